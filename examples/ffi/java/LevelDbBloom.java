// leveldb-bloom through JNA's direct mapping.
// Shows: AutoCloseable with a Cleaner behind it; byte[] for keys, direct ByteBuffers for batches.

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.Structure;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** LevelDB's bloom filter. A size_t is a long here: for machines of 64 bits. */
public final class LevelDbBloom {
    private LevelDbBloom() {}

    private static final int TOO_LARGE = 2;
    private static final Cleaner CLEANER = Cleaner.create();

    static {
        Native.register("libleveldb_bloom.so.1");
    }

    private static native String leveldb_bloom_version();
    private static native String leveldb_bloom_active();
    private static native String leveldb_bloom_status_message(int status);
    private static native int leveldb_bloom_hash(byte[] key, long keyLength);
    private static native double leveldb_bloom_false_positive_rate(int bitsPerKey, long keys);
    private static native int leveldb_bloom_bits_per_key_for(double rate, long keys);
    private static native Pointer leveldb_bloom_policy_create(int bitsPerKey);
    private static native Pointer leveldb_bloom_policy_create_ribbon(int bitsPerKey);
    private static native void leveldb_bloom_policy_destroy(Pointer policy);
    private static native String leveldb_bloom_kernel(Pointer policy);
    private static native long leveldb_bloom_filter_size(Pointer policy, long keys);
    private static native int leveldb_bloom_fill_filter_offsets64(Pointer policy, ByteBuffer data,
            long dataLength, LongBuffer offsets, long keys, Pointer filter, long filterLength);
    private static native int leveldb_bloom_fill_filter_fixed(Pointer policy, ByteBuffer data,
            long keyLength, long keys, Pointer filter, long filterLength);
    private static native Pointer leveldb_bloom_builder_create(int bitsPerKey);
    private static native Pointer leveldb_bloom_builder_create_ribbon(int bitsPerKey);
    private static native void leveldb_bloom_builder_destroy(Pointer builder);
    private static native int leveldb_bloom_builder_add(Pointer builder, byte[] key, long keyLength);
    private static native int leveldb_bloom_builder_add_fixed(Pointer builder, ByteBuffer data,
            long keyLength, long keys);
    private static native long leveldb_bloom_builder_num_keys(Pointer builder);
    private static native long leveldb_bloom_builder_filter_size(Pointer builder, long totalKeys);
    private static native int leveldb_bloom_builder_finish(Pointer builder, long totalKeys,
            Pointer filter, long filterLength);
    private static native int leveldb_bloom_union(Pointer into, long intoLength, Pointer from,
            long fromLength);
    private static native byte leveldb_bloom_key_may_match(byte[] key, long keyLength, Pointer filter,
            long filterLength);
    private static native int leveldb_bloom_keys_may_match_offsets64(ByteBuffer data, long dataLength,
            LongBuffer offsets, long keys, Pointer filter, long filterLength, byte[] results,
            Pointer bitmap, Pointer matches);
    private static native int leveldb_bloom_keys_may_match_fixed(ByteBuffer data, long keyLength,
            long keys, Pointer filter, long filterLength, byte[] results, Pointer bitmap,
            Pointer matches);
    private static native int leveldb_bloom_inspect(Pointer filter, long filterLength, Info info);
    private static native long leveldb_bloom_positions(byte[] key, long keyLength, Pointer filter,
            long filterLength, long[] positions, long capacity);

    public static String version() { return leveldb_bloom_version(); }

    public static String active() { return leveldb_bloom_active(); }

    public static String statusMessage(int status) { return leveldb_bloom_status_message(status); }

    public static int hash(byte[] key) { return leveldb_bloom_hash(key, key.length); }

    public static double falsePositiveRate(int bitsPerKey, long keys) {
        return leveldb_bloom_false_positive_rate(bitsPerKey, count(keys));
    }

    /** 0: no number of bits per key up to 44 reaches that rate. */
    public static int bitsPerKeyFor(double rate, long keys) {
        return leveldb_bloom_bits_per_key_for(rate, count(keys));
    }

    /** How filters are written: as LevelDB's own, or as ribbon filters. */
    public enum Encoding { BLOOM, RIBBON }

    /** What the library calls a status; its text is the library's. */
    public static final class BloomException extends RuntimeException {
        private static final long serialVersionUID = 1;
        public final int status;

        BloomException(int status) {
            super(statusMessage(status));
            this.status = status;
        }
    }

    private static void check(int status) {
        if (status != 0) throw new BloomException(status);
    }

    /** A negative long would be a huge size_t. */
    private static long count(long keys) {
        if (keys < 0) throw new IllegalArgumentException("there cannot be " + keys + " keys");
        return keys;
    }

    private static long countFixed(ByteBuffer data, int keyLength) {
        if (keyLength < 1 || data.remaining() % keyLength != 0) {
            throw new IllegalArgumentException(
                    data.remaining() + " bytes are no whole number of keys of " + keyLength);
        }
        return data.remaining() / keyLength;
    }

    private static int countOffsets(LongBuffer offsets) {
        if (!offsets.hasRemaining()) throw new IllegalArgumentException("there is at least one offset");
        // What asLongBuffer makes of a ByteBuffer whose order nobody has set.
        if (offsets.order() != ByteOrder.nativeOrder()) {
            throw new IllegalArgumentException("the offsets are " + offsets.order() + ", this machine is "
                    + ByteOrder.nativeOrder());
        }
        return offsets.remaining() - 1;
    }

    /** The keys in memory that a call can take: JNA knows no others, and a read-only buffer hides its array. */
    private static ByteBuffer reachable(ByteBuffer data) {
        ByteBuffer rest = data.slice();
        return rest.isDirect() || rest.hasArray() ? rest : ByteBuffer.allocate(rest.remaining()).put(rest).flip();
    }

    /** The offsets in memory that a call can take: JNA knows no others, and the library wants whole words. */
    private static LongBuffer whole(LongBuffer offsets) {
        LongBuffer rest = offsets.slice();
        boolean fits = rest.isDirect()
                ? Pointer.nativeValue(Native.getDirectBufferPointer(rest)) % Long.BYTES == 0
                : rest.hasArray();
        return fits ? rest : LongBuffer.allocate(rest.remaining()).put(rest).flip();
    }

    /** Memory for a filter. A size of 0 says that no size_t can hold it. */
    private static Memory newFilter(long size) {
        if (size == 0) throw new BloomException(TOO_LARGE);
        return new Memory(size);
    }

    /** A handle of the library: given back by close, or after the collector. */
    private abstract static class Owner implements AutoCloseable {
        private static final class Handle implements Runnable {
            private Pointer pointer;
            private final Consumer<Pointer> destroy;

            Handle(Pointer pointer, Consumer<Pointer> destroy) {
                if (pointer == null) throw new OutOfMemoryError();
                this.pointer = pointer;
                this.destroy = destroy;
            }

            @Override
            public void run() {
                destroy.accept(pointer);
                pointer = null;
            }
        }

        private final Handle owned;
        private final Cleaner.Cleanable cleanable;

        Owner(Pointer created, Consumer<Pointer> destroy) {
            owned = new Handle(created, destroy);
            cleanable = CLEANER.register(this, owned);
        }

        final Pointer handle() {
            if (owned.pointer == null) throw new IllegalStateException("it is closed");
            return owned.pointer;
        }

        @Override
        public final void close() { cleanable.clean(); }
    }

    /** Makes filters of so many bits per key; any number of threads may use one while none closes it. */
    public static final class Policy extends Owner {
        public Policy(int bitsPerKey) {
            this(bitsPerKey, Encoding.BLOOM);
        }

        public Policy(int bitsPerKey, Encoding encoding) {
            super(encoding == Encoding.RIBBON ? leveldb_bloom_policy_create_ribbon(bitsPerKey)
                    : leveldb_bloom_policy_create(bitsPerKey), LevelDbBloom::leveldb_bloom_policy_destroy);
        }

        public String kernel() {
            try {
                return leveldb_bloom_kernel(handle());
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        public Filter createFilter(List<byte[]> keys) {
            long length = keys.stream().mapToLong(key -> key.length).sum();
            if (length > Integer.MAX_VALUE) {
                throw new IllegalArgumentException(
                        "no buffer holds the " + length + " bytes of these keys; add them to a Builder");
            }
            ByteBuffer data = ByteBuffer.allocateDirect((int) length);
            LongBuffer offsets = LongBuffer.allocate(keys.size() + 1);
            offsets.put(0);
            for (byte[] key : keys) {
                data.put(key);
                offsets.put(data.position());
            }
            return createFilterOffsets(data.flip(), offsets.flip());
        }

        /** Key i is the bytes of data from offset i up to offset i + 1. A direct buffer is not copied. */
        public Filter createFilterOffsets(ByteBuffer data, LongBuffer offsets) {
            try {
                long keys = countOffsets(offsets);
                Memory filter = newFilter(leveldb_bloom_filter_size(handle(), keys));
                check(leveldb_bloom_fill_filter_offsets64(handle(), reachable(data), data.remaining(),
                        whole(offsets), keys, filter, filter.size()));
                return new Filter(filter);
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        /** Keys of one length, one behind the other. */
        public Filter createFilterFixed(ByteBuffer data, int keyLength) {
            try {
                long keys = countFixed(data, keyLength);
                Memory filter = newFilter(leveldb_bloom_filter_size(handle(), keys));
                check(leveldb_bloom_fill_filter_fixed(handle(), reachable(data), keyLength, keys, filter,
                        filter.size()));
                return new Filter(filter);
            } finally {
                Reference.reachabilityFence(this);
            }
        }
    }

    /** Collects keys as they come; for one thread at a time. */
    public static final class Builder extends Owner {
        public Builder(int bitsPerKey) {
            this(bitsPerKey, Encoding.BLOOM);
        }

        public Builder(int bitsPerKey, Encoding encoding) {
            super(encoding == Encoding.RIBBON ? leveldb_bloom_builder_create_ribbon(bitsPerKey)
                    : leveldb_bloom_builder_create(bitsPerKey), LevelDbBloom::leveldb_bloom_builder_destroy);
        }

        public void add(byte[] key) {
            try {
                check(leveldb_bloom_builder_add(handle(), key, key.length));
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        public void addFixed(ByteBuffer data, int keyLength) {
            try {
                check(leveldb_bloom_builder_add_fixed(handle(), reachable(data), keyLength,
                        countFixed(data, keyLength)));
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        public long size() {
            try {
                return leveldb_bloom_builder_num_keys(handle());
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        /**
         * The filter of the keys added, as large as one for totalKeys, or for those added if that is
         * 0; the builder is empty again. Parts of one filter, made with the same total, are united
         * with Filter.union.
         */
        public Filter finish(long totalKeys) {
            try {
                Memory filter = newFilter(leveldb_bloom_builder_filter_size(handle(), count(totalKeys)));
                check(leveldb_bloom_builder_finish(handle(), totalKeys, filter, filter.size()));
                return new Filter(filter);
            } finally {
                Reference.reachabilityFence(this);
            }
        }
    }

    /** What the bytes of a filter say. */
    @Structure.FieldOrder({"bits", "bitsSet", "probes", "encoding", "fill", "estimatedKeys",
        "falsePositiveRate"})
    public static final class Info extends Structure {
        public long bits;
        public long bitsSet;
        public int probes;
        /** 1 for ribbon filters, 0 for all others. */
        public int encoding;
        public double fill;
        public double estimatedKeys;
        public double falsePositiveRate;
    }

    /**
     * A filter, outside the collector's heap so that no query copies it. Immutable; of equal bytes, equal. To be closed: to the
     * collector it is some bytes, however large it is, and a process that leaves filters to it may have
     * gigabytes of them before it runs.
     */
    public static final class Filter implements AutoCloseable {
        private final Memory memory;
        private final long length;
        private volatile boolean closed;

        private Filter(Memory memory) {
            this.memory = memory;
            this.length = memory == null ? 0 : memory.size();
        }

        public Filter(byte[] bytes) {
            this(bytes.length == 0 ? null : new Memory(bytes.length));
            if (bytes.length > 0) memory.write(0, bytes, 0, bytes.length);
        }

        private Memory memory() {
            if (closed) throw new IllegalStateException("it is closed");
            return memory;
        }

        public byte[] bytes() {
            Memory open = memory();
            return open == null ? new byte[0] : open.getByteArray(0, Math.toIntExact(length));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Filter && Arrays.equals(bytes(), ((Filter) other).bytes());
        }

        @Override
        public int hashCode() { return Arrays.hashCode(bytes()); }

        public boolean mayMatch(byte[] key) {
            return leveldb_bloom_key_may_match(key, key.length, memory(), length) != 0;
        }

        /** A byte of 0 or 1 for each key. */
        public byte[] mayMatchOffsets(ByteBuffer data, LongBuffer offsets) {
            byte[] results = new byte[countOffsets(offsets)];
            check(leveldb_bloom_keys_may_match_offsets64(reachable(data), data.remaining(), whole(offsets),
                    results.length, memory(), length, results, null, null));
            return results;
        }

        public byte[] mayMatchFixed(ByteBuffer data, int keyLength) {
            byte[] results = new byte[(int) countFixed(data, keyLength)];
            check(leveldb_bloom_keys_may_match_fixed(reachable(data), keyLength, results.length, memory(),
                    length, results, null, null));
            return results;
        }

        /** The filter of both filters' keys. */
        public Filter union(Filter other) {
            Filter both = new Filter(bytes());
            check(leveldb_bloom_union(both.memory, both.length, other.memory(), other.length));
            return both;
        }

        public Info inspect() {
            Info info = new Info();
            check(leveldb_bloom_inspect(memory(), length, info));
            return info;
        }

        /** The bits that a query for the key reads. */
        public long[] positions(byte[] key) {
            long[] found = new long[30];
            int number = (int) leveldb_bloom_positions(key, key.length, memory(), length, found,
                    found.length);
            return Arrays.copyOf(found, number);
        }

        /** Gives the memory back; not while another thread asks. */
        @Override
        public void close() {
            closed = true;
            if (memory != null) memory.close();
        }
    }
}
