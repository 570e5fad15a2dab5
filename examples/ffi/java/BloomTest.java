// The wrapper of LevelDbBloom.java: golden values, a million keys, errors, threads, the collector.

import com.sun.jna.Native;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

public final class BloomTest {
    private static final int KEY_LENGTH = 16;
    private static final int KEYS = 1_000_000;
    private static final int HALF = KEYS / 2;
    private static final int BATCH = 100_000;

    private static void check(boolean condition, Object what) {
        if (!condition) throw new AssertionError(what);
    }

    private static byte[] unhex(String text) {
        byte[] bytes = new byte[text.equals("-") ? 0 : text.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(text.substring(2 * i, 2 * i + 2), 16);
        }
        return bytes;
    }

    private static int golden() throws Exception {
        List<String> lines = Files.readAllLines(Path.of(System.getenv("LEVELDB_BLOOM_GOLDEN")));
        for (String line : lines) {
            String[] fields = line.split(" ");
            switch (fields[0]) {
                case "filter" -> {
                    int bits = Integer.parseInt(fields[1]);
                    byte[] expected = unhex(fields[2]);
                    List<byte[]> keys = new ArrayList<>();
                    for (int i = 3; i < fields.length; i++) keys.add(unhex(fields[i]));
                    try (var policy = new LevelDbBloom.Policy(bits);
                            var builder = new LevelDbBloom.Builder(bits)) {
                        check(Arrays.equals(policy.createFilter(keys).bytes(), expected), line);
                        keys.forEach(builder::add);
                        check(builder.size() == keys.size(), line);
                        check(Arrays.equals(builder.finish(0).bytes(), expected), line);
                        check(builder.size() == 0, line);
                    }
                }
                case "hash" -> check(
                        LevelDbBloom.hash(unhex(fields[1])) == Integer.parseUnsignedInt(fields[2], 16),
                        line);
                case "answer" -> {
                    byte[] key = unhex(fields[1]);
                    try (var filter = new LevelDbBloom.Filter(unhex(fields[2]))) {
                        check(filter.mayMatch(key) == fields[3].equals("1"), line);
                        byte[] answers = filter.mayMatchOffsets(ByteBuffer.wrap(key), offsets(0, key.length));
                        check(answers[0] == Integer.parseInt(fields[3]), line);
                    }
                }
                default -> throw new AssertionError(line);
            }
        }
        return lines.size();
    }

    private static LongBuffer offsets(long... values) { return LongBuffer.wrap(values); }

    private static void library() {
        check(LevelDbBloom.version().equals("1.0.0"), LevelDbBloom.version());
        check(LevelDbBloom.bitsPerKeyFor(0.01, KEYS) == 11, "bits per key");
        double rate = LevelDbBloom.falsePositiveRate(11, KEYS);
        check(rate > 0.005 && rate < 0.01, rate);
        try (var policy = new LevelDbBloom.Policy(10)) {
            LevelDbBloom.Filter filter = policy.createFilter(List.of("hello".getBytes(), "world".getBytes()));
            LevelDbBloom.Info info = filter.inspect();
            check(info.bits == 64 && info.probes == 6 && info.bitsSet == 10 && info.fill == 10.0 / 64, info);
            check(info.estimatedKeys > 1.81 && info.estimatedKeys < 1.82, info);
            check(info.falsePositiveRate > 0.004 && info.falsePositiveRate < 0.005, info);
            long[] positions = filter.positions("hello".getBytes());
            check(positions.length == 6, positions.length);
            for (long p : positions) check((filter.bytes()[(int) p / 8] >> p % 8 & 1) == 1, p);
        }
        byte[] key = {'a'};
        try (var policy = new LevelDbBloom.Policy(44)) {
            LevelDbBloom.Filter filter = policy.createFilter(List.of(key));
            long[] positions = filter.positions(key);
            check(positions.length == 30, positions.length);
            check(Arrays.stream(positions).distinct().count() == filter.inspect().bitsSet, "all are set");
        }
    }

    private static void ribbon() {
        List<byte[]> keys = List.of("hello".getBytes(), "world".getBytes());
        try (var policy = new LevelDbBloom.Policy(10, LevelDbBloom.Encoding.RIBBON);
                var builder = new LevelDbBloom.Builder(10, LevelDbBloom.Encoding.RIBBON)) {
            LevelDbBloom.Filter filter = policy.createFilter(keys);
            keys.forEach(builder::add);
            check(Arrays.equals(builder.finish(0).bytes(), filter.bytes()), "builder");
            check(keys.stream().allMatch(filter::mayMatch), "present keys");
            check(!filter.mayMatch("absent".getBytes()), "an absent key");
            LevelDbBloom.Info info = filter.inspect();
            check(info.encoding == 1 && info.probes == 10 && info.falsePositiveRate == 1.0 / 1024, info);
            fails(4, () -> filter.union(filter));
        }
    }

    private static void fails(int status, Runnable call) {
        try {
            call.run();
        } catch (LevelDbBloom.BloomException e) {
            check(e.status == status, e);
            check(e.getMessage().equals(LevelDbBloom.statusMessage(status)), e);
            return;
        }
        throw new AssertionError("no status " + status);
    }

    private static void fails(Class<? extends RuntimeException> kind, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            check(kind.isInstance(e), e);
            return;
        }
        throw new AssertionError("no " + kind);
    }

    private static ByteOrder otherOrder() {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
    }

    private static void errors() {
        var policy = new LevelDbBloom.Policy(10);
        var builder = new LevelDbBloom.Builder(10);
        byte[] a = {'a'};
        LevelDbBloom.Filter small = policy.createFilter(List.of(a));
        LevelDbBloom.Filter large = policy.createFilter(Collections.nCopies(100, a));
        fails(4, () -> small.union(large));
        fails(2, () -> builder.finish(Long.MAX_VALUE));
        fails(IllegalArgumentException.class,
                () -> policy.createFilter(Collections.nCopies((1 << 17) + 1, new byte[1 << 15])));
        for (long keys : new long[] {-1, Long.MIN_VALUE}) {
            fails(IllegalArgumentException.class, () -> builder.finish(keys));
            fails(IllegalArgumentException.class, () -> LevelDbBloom.falsePositiveRate(10, keys));
            fails(IllegalArgumentException.class, () -> LevelDbBloom.bitsPerKeyFor(0.01, keys));
        }
        for (ByteBuffer data : new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocateDirect(10)}) {
            for (LongBuffer wrong : new LongBuffer[] {offsets(0, 7, 5), offsets(-1, 7, 9), offsets(0, 5, 11)}) {
                fails(1, () -> policy.createFilterOffsets(data, wrong));
                fails(1, () -> small.mayMatchOffsets(data, wrong));
            }
            LongBuffer swapped = ByteBuffer.allocateDirect(16).order(otherOrder()).asLongBuffer();
            fails(IllegalArgumentException.class, () -> policy.createFilterOffsets(data, swapped));
            fails(IllegalArgumentException.class, () -> small.mayMatchOffsets(data, swapped));
            for (int length : new int[] {3, 0, -1}) {
                fails(IllegalArgumentException.class, () -> policy.createFilterFixed(data, length));
                fails(IllegalArgumentException.class, () -> small.mayMatchFixed(data, length));
                fails(IllegalArgumentException.class, () -> builder.addFixed(data, length));
            }
            fails(IllegalArgumentException.class, () -> policy.createFilterOffsets(data, offsets()));
            fails(IllegalArgumentException.class, () -> small.mayMatchOffsets(data, offsets()));
        }
        byte[] b = {'b'};
        LevelDbBloom.Filter twoKeys = policy.createFilter(List.of(a, b));
        check(Arrays.equals(twoKeys.bytes(), small.union(policy.createFilter(List.of(b))).bytes()), "union");
        check(Arrays.equals(small.bytes(), policy.createFilter(List.of(a)).bytes()), "after a union");
        // Keys and offsets of any memory, wherever it begins.
        for (ByteBuffer memory : new ByteBuffer[] {ByteBuffer.allocate(4), ByteBuffer.allocateDirect(4)}) {
            ByteBuffer keys = memory.put(new byte[] {'x', 'a', 'b', 'x'}).position(1).limit(3);
            for (ByteBuffer given : new ByteBuffer[] {keys, keys.asReadOnlyBuffer()}) {
                builder.addFixed(given, 1);
                for (LevelDbBloom.Filter made : new LevelDbBloom.Filter[] {builder.finish(0),
                        policy.createFilterFixed(given, 1), policy.createFilterOffsets(given, offsets(0, 1, 2))}) {
                    check(Arrays.equals(twoKeys.bytes(), made.bytes()), given);
                }
                check(Arrays.equals(new byte[] {1, 1}, twoKeys.mayMatchFixed(given, 1)), given);
                check(Arrays.equals(new byte[] {1, 1}, twoKeys.mayMatchOffsets(given, offsets(0, 1, 2))), given);
                check(given.position() == 1 && given.limit() == 3, given);
            }
        }
        ByteBuffer both = ByteBuffer.wrap(new byte[] {'a', 'b'});
        for (int skipped = 0; skipped <= 8; skipped++) {
            for (ByteBuffer memory : new ByteBuffer[] {ByteBuffer.allocate(32), ByteBuffer.allocateDirect(32)}) {
                LongBuffer anywhere = memory.position(skipped).slice().order(ByteOrder.nativeOrder())
                        .asLongBuffer().put(new long[] {0, 1, 2}).flip();
                for (LongBuffer given : new LongBuffer[] {anywhere, anywhere.asReadOnlyBuffer(),
                        offsets(0, 1, 2).asReadOnlyBuffer()}) {
                    check(Arrays.equals(twoKeys.bytes(), policy.createFilterOffsets(both, given).bytes()), skipped);
                    check(Arrays.equals(new byte[] {1, 1}, twoKeys.mayMatchOffsets(both, given)), skipped);
                }
            }
        }
        LevelDbBloom.Filter open = policy.createFilter(List.of(a));
        var empty = new LevelDbBloom.Filter(new byte[0]);
        for (int i = 0; i < 2; i++) {
            policy.close();
            builder.close();
            small.close();
            empty.close();
        }
        fails(IllegalStateException.class, () -> policy.createFilter(List.of(a)));
        fails(IllegalStateException.class, () -> policy.createFilterFixed(both, 1));
        fails(IllegalStateException.class, policy::kernel);
        fails(IllegalStateException.class, () -> builder.add(a));
        fails(IllegalStateException.class, () -> builder.addFixed(both, 1));
        fails(IllegalStateException.class, () -> builder.finish(0));
        fails(IllegalStateException.class, builder::size);
        for (LevelDbBloom.Filter closed : new LevelDbBloom.Filter[] {small, empty}) {
            fails(IllegalStateException.class, () -> closed.mayMatch(a));
            fails(IllegalStateException.class, () -> closed.mayMatchFixed(ByteBuffer.wrap(a), 1));
            fails(IllegalStateException.class, () -> closed.mayMatchOffsets(ByteBuffer.wrap(a), offsets(0, 1)));
            fails(IllegalStateException.class, closed::bytes);
            fails(IllegalStateException.class, () -> closed.union(open));
            fails(IllegalStateException.class, () -> open.union(closed));
            fails(IllegalStateException.class, closed::inspect);
            fails(IllegalStateException.class, () -> closed.positions(a));
        }
        check(open.mayMatch(a), "open");
    }

    private static void collector() throws Exception {
        // What is closed at once, and what is left to the collector: of 40 MB each, which malloc does not keep.
        ByteBuffer keys = ByteBuffer.allocateDirect(10 * KEYS);
        long before = residentBytes();
        for (int i = 0; i < 10; i++) {
            try (var builder = new LevelDbBloom.Builder(10)) {
                builder.addFixed(keys, 1);
                builder.finish(30 * KEYS).close();
                builder.addFixed(keys, 1);
            }
        }
        check(residentBytes() < before + 100L * KEYS, "bytes left: " + (residentBytes() - before));
        for (int i = 0; i < 10; i++) new LevelDbBloom.Builder(10).addFixed(keys, 1);
        for (int i = 0; i < 100 && residentBytes() > before + 100L * KEYS; i++) {
            System.gc();
            Thread.sleep(100);
        }
        check(residentBytes() < before + 100L * KEYS, "bytes left: " + (residentBytes() - before));
    }

    private static long residentBytes() throws Exception {
        String status = Files.readString(Path.of("/proc/self/status"));
        return Long.parseLong(status.replaceAll("(?s).*VmRSS:\\s*(\\d+) kB.*", "$1")) * 1024;
    }

    private static double bestOf(int rounds, Runnable work) {
        long best = Long.MAX_VALUE;
        for (int i = 0; i < rounds; i++) {
            long start = System.nanoTime();
            work.run();
            best = Math.min(best, System.nanoTime() - start);
        }
        return best / 1e9;
    }

    private static int found;

    public static void main(String[] arguments) throws Exception {
        int golden = golden();
        library();
        ribbon();
        errors();
        collector();

        ByteBuffer data = ByteBuffer.allocateDirect(KEYS * KEY_LENGTH);
        LongBuffer offsets = ByteBuffer.allocateDirect((KEYS + 1) * 8)
                .order(ByteOrder.nativeOrder()).asLongBuffer();
        byte[][] keys = new byte[KEYS][];
        for (int i = 0; i < KEYS; i++) {
            keys[i] = String.format("key-%012d", i).getBytes();
            data.put(keys[i]);
            offsets.put(i + 1, (long) (i + 1) * KEY_LENGTH);
        }
        data.flip();
        ByteBuffer first = data.slice(0, HALF * KEY_LENGTH);
        var policy = new LevelDbBloom.Policy(10);
        LevelDbBloom.Filter filter = policy.createFilterFixed(first, KEY_LENGTH);
        byte[] bytes = filter.bytes();
        byte[] answers = filter.mayMatchFixed(data, KEY_LENGTH);
        int matches = 0;
        for (int i = 0; i < KEYS; i++) {
            check(filter.mayMatch(keys[i]) == (answers[i] == 1), i);
            matches += answers[i];
        }
        check(Arrays.equals(answers, filter.mayMatchOffsets(data, offsets)), "offsets");
        // Memory of the collector's heap is copied, with the same result.
        byte[] copy = new byte[data.remaining()];
        data.duplicate().get(copy);
        check(Arrays.equals(answers, filter.mayMatchFixed(ByteBuffer.wrap(copy), KEY_LENGTH)), "heap");

        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<LevelDbBloom.Filter>> parts = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int size = HALF / 4 * KEY_LENGTH;
            ByteBuffer part = first.slice(i * size, size);
            parts.add(threads.submit(() -> {
                check(Arrays.equals(answers, filter.mayMatchFixed(data, KEY_LENGTH)), "answers in a thread");
                check(Arrays.equals(bytes, policy.createFilterFixed(first, KEY_LENGTH).bytes()),
                        "filter in a thread");
                try (var builder = new LevelDbBloom.Builder(10)) {
                    builder.addFixed(part, KEY_LENGTH);
                    return builder.finish(HALF);
                }
            }));
        }
        LevelDbBloom.Filter whole = parts.get(0).get();
        for (int i = 1; i < 4; i++) whole = whole.union(parts.get(i).get());
        threads.shutdown();
        check(Arrays.equals(bytes, whole.bytes()), "parts united");

        double one = bestOf(1000, () -> {
            for (int i = HALF - 500; i < HALF + 500; i++) {
                if (filter.mayMatch(keys[i])) found++;
            }
        });
        ByteBuffer batch = data.slice((HALF - BATCH / 2) * KEY_LENGTH, BATCH * KEY_LENGTH);
        double query = bestOf(200, () -> filter.mayMatchFixed(batch, KEY_LENGTH));
        double build = bestOf(200, () -> policy.createFilterFixed(batch, KEY_LENGTH).close());
        System.out.printf(Locale.ROOT, "{\"language\":\"Java\",\"through\":\"JNA %s\",\"runtime\":\"OpenJDK %s\","
                + "\"library\":\"%s\",\"active\":\"%s\",\"kernel\":\"%s\",\"golden\":%d,\"matches\":%d,\"distinct\":%d,"
                + "\"filter_hash\":\"%08x\",\"call_ns\":%.1f,\"query_keys_per_s\":%.0f,"
                + "\"build_keys_per_s\":%.0f}%n", Native.VERSION, System.getProperty("java.version"),
                LevelDbBloom.version(), LevelDbBloom.active(), policy.kernel(), golden, matches,
                Stream.of(filter, policy.createFilterFixed(batch, KEY_LENGTH), new LevelDbBloom.Filter(bytes))
                        .distinct().count(),
                LevelDbBloom.hash(bytes), one / 1000 * 1e9, BATCH / query, BATCH / build);
    }
}
