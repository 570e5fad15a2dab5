// leveldb-bloom through P/Invoke, for .NET and Mono.
// Shows: SafeHandles that Dispose or the collector gives back; byte[] pinned for the call, not copied.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;

namespace LevelDbBloom
{
    internal static class Native
    {
        private const string Library = "libleveldb_bloom.so.1";

        [DllImport(Library)] internal static extern IntPtr leveldb_bloom_version();
        [DllImport(Library)] internal static extern IntPtr leveldb_bloom_active();
        [DllImport(Library)] internal static extern IntPtr leveldb_bloom_status_message(int status);
        [DllImport(Library)] internal static extern uint leveldb_bloom_hash(byte[] key, UIntPtr keyLength);
        [DllImport(Library)] internal static extern double leveldb_bloom_false_positive_rate(
            int bitsPerKey, UIntPtr keys);
        [DllImport(Library)] internal static extern int leveldb_bloom_bits_per_key_for(
            double rate, UIntPtr keys);
        [DllImport(Library)] internal static extern PolicyHandle leveldb_bloom_policy_create(int bitsPerKey);
        [DllImport(Library)] internal static extern PolicyHandle leveldb_bloom_policy_create_ribbon(int bitsPerKey);
        [DllImport(Library)] internal static extern void leveldb_bloom_policy_destroy(IntPtr policy);
        [DllImport(Library)] internal static extern IntPtr leveldb_bloom_kernel(PolicyHandle policy);
        [DllImport(Library)] internal static extern UIntPtr leveldb_bloom_filter_size(
            PolicyHandle policy, UIntPtr keys);
        [DllImport(Library)] internal static extern int leveldb_bloom_fill_filter_offsets64(
            PolicyHandle policy, byte[] data, UIntPtr dataLength, long[] offsets, UIntPtr keys,
            byte[] filter, UIntPtr filterLength);
        [DllImport(Library)] internal static extern int leveldb_bloom_fill_filter_fixed(
            PolicyHandle policy, byte[] data, UIntPtr keyLength, UIntPtr keys,
            byte[] filter, UIntPtr filterLength);
        [DllImport(Library)] internal static extern BuilderHandle leveldb_bloom_builder_create(int bitsPerKey);
        [DllImport(Library)] internal static extern BuilderHandle leveldb_bloom_builder_create_ribbon(int bitsPerKey);
        [DllImport(Library)] internal static extern void leveldb_bloom_builder_destroy(IntPtr builder);
        [DllImport(Library)] internal static extern int leveldb_bloom_builder_add(
            BuilderHandle builder, byte[] key, UIntPtr keyLength);
        [DllImport(Library)] internal static extern int leveldb_bloom_builder_add_fixed(
            BuilderHandle builder, byte[] data, UIntPtr keyLength, UIntPtr keys);
        [DllImport(Library)] internal static extern UIntPtr leveldb_bloom_builder_num_keys(BuilderHandle builder);
        [DllImport(Library)] internal static extern UIntPtr leveldb_bloom_builder_filter_size(
            BuilderHandle builder, UIntPtr totalKeys);
        [DllImport(Library)] internal static extern int leveldb_bloom_builder_finish(
            BuilderHandle builder, UIntPtr totalKeys, byte[] filter, UIntPtr filterLength);
        [DllImport(Library)] internal static extern int leveldb_bloom_union(
            byte[] into, UIntPtr intoLength, byte[] from, UIntPtr fromLength);
        [DllImport(Library)] internal static extern byte leveldb_bloom_key_may_match(
            byte[] key, UIntPtr keyLength, byte[] filter, UIntPtr filterLength);
        [DllImport(Library)] internal static extern int leveldb_bloom_keys_may_match_offsets64(
            byte[] data, UIntPtr dataLength, long[] offsets, UIntPtr keys, byte[] filter,
            UIntPtr filterLength, byte[] results, byte[] bitmap, IntPtr matches);
        [DllImport(Library)] internal static extern int leveldb_bloom_keys_may_match_fixed(
            byte[] data, UIntPtr keyLength, UIntPtr keys, byte[] filter, UIntPtr filterLength,
            byte[] results, byte[] bitmap, IntPtr matches);
        [DllImport(Library)] internal static extern int leveldb_bloom_inspect(
            byte[] filter, UIntPtr filterLength, out FilterInfo info);
        [DllImport(Library)] internal static extern UIntPtr leveldb_bloom_positions(
            byte[] key, UIntPtr keyLength, byte[] filter, UIntPtr filterLength,
            [Out] ulong[] positions, UIntPtr capacity);

        // A negative long would be a huge size_t.
        internal static UIntPtr Size(long size)
        {
            if (size < 0) throw new ArgumentOutOfRangeException("size", size, "a size cannot be negative");
            return (UIntPtr)(ulong)size;
        }

        internal static UIntPtr Length(byte[] bytes, string name)
        {
            if (bytes == null) throw new ArgumentNullException(name);
            return (UIntPtr)(uint)bytes.Length;
        }

        internal static string Text(IntPtr text) { return Marshal.PtrToStringAnsi(text); }

        internal static void Check(int status)
        {
            if (status != 0) throw new BloomException(status);
        }

        internal static UIntPtr CountFixed(byte[] data, string name, int keyLength)
        {
            if (data == null) throw new ArgumentNullException(name);
            if (keyLength < 1 || data.Length % keyLength != 0)
            {
                throw new ArgumentException(
                    data.Length + " bytes are no whole number of keys of " + keyLength);
            }
            return Size(data.Length / keyLength);
        }

        internal static UIntPtr CountOffsets(long[] offsets)
        {
            if (offsets == null) throw new ArgumentNullException("offsets");
            if (offsets.Length == 0) throw new ArgumentException("there is at least one offset");
            return Size(offsets.Length - 1);
        }

        // Room for a filter. A size of 0 says that no size_t can hold it.
        internal static byte[] NewFilter(UIntPtr size)
        {
            const int tooLarge = 2;
            if (size == UIntPtr.Zero) throw new BloomException(tooLarge);
            if ((ulong)size > int.MaxValue)
            {
                throw new OutOfMemoryException("no array holds a filter of " + size + " bytes");
            }
            return new byte[(int)size];
        }
    }

    internal sealed class PolicyHandle : SafeHandle
    {
        private PolicyHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle()
        {
            Native.leveldb_bloom_policy_destroy(handle);
            return true;
        }
    }

    internal sealed class BuilderHandle : SafeHandle
    {
        private BuilderHandle() : base(IntPtr.Zero, true) { }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        protected override bool ReleaseHandle()
        {
            Native.leveldb_bloom_builder_destroy(handle);
            return true;
        }
    }

    /// <summary>What the library calls a status; its text is the library's.</summary>
    public sealed class BloomException : Exception
    {
        public BloomException(int status) : base(Bloom.StatusMessage(status)) { Status = status; }

        public int Status { get; private set; }
    }

    public static class Bloom
    {
        public static string Version { get { return Native.Text(Native.leveldb_bloom_version()); } }

        public static string Active { get { return Native.Text(Native.leveldb_bloom_active()); } }

        public static string StatusMessage(int status)
        {
            return Native.Text(Native.leveldb_bloom_status_message(status));
        }

        public static uint Hash(byte[] key)
        {
            return Native.leveldb_bloom_hash(key, Native.Length(key, "key"));
        }

        public static double FalsePositiveRate(int bitsPerKey, long keys)
        {
            return Native.leveldb_bloom_false_positive_rate(bitsPerKey, Native.Size(keys));
        }

        /// <summary>0: no number of bits per key up to 44 reaches that rate.</summary>
        public static int BitsPerKeyFor(double rate, long keys)
        {
            return Native.leveldb_bloom_bits_per_key_for(rate, Native.Size(keys));
        }
    }

    /// <summary>How filters are written: as LevelDB's own, or as ribbon filters.</summary>
    public enum FilterEncoding : uint { Bloom = 0, Ribbon = 1 }

    /// <summary>Makes filters of so many bits per key; any number of threads may use one. After
    /// Dispose its methods throw ObjectDisposedException.</summary>
    public sealed class Policy : IDisposable
    {
        private readonly PolicyHandle handle;

        public Policy(int bitsPerKey, FilterEncoding encoding = FilterEncoding.Bloom)
        {
            handle = encoding == FilterEncoding.Ribbon
                ? Native.leveldb_bloom_policy_create_ribbon(bitsPerKey)
                : Native.leveldb_bloom_policy_create(bitsPerKey);
            if (handle.IsInvalid) throw new OutOfMemoryException();
        }

        public string Kernel { get { return Native.Text(Native.leveldb_bloom_kernel(handle)); } }

        public Filter CreateFilter(IEnumerable<byte[]> keys)
        {
            if (keys == null) throw new ArgumentNullException("keys");
            var data = new MemoryStream();
            var offsets = new List<long> { 0 };
            foreach (var key in keys)
            {
                if (key == null) throw new ArgumentException("a key is null", "keys");
                data.Write(key, 0, key.Length);
                offsets.Add(data.Length);
            }
            return CreateFilterOffsets(data.ToArray(), offsets.ToArray());
        }

        /// <summary>Key i is the bytes of data from offset i up to offset i + 1.</summary>
        public Filter CreateFilterOffsets(byte[] data, long[] offsets)
        {
            var keys = Native.CountOffsets(offsets);
            var filter = Native.NewFilter(Native.leveldb_bloom_filter_size(handle, keys));
            Native.Check(Native.leveldb_bloom_fill_filter_offsets64(handle, data,
                Native.Length(data, "data"), offsets, keys, filter, Native.Size(filter.Length)));
            return new Filter(filter);
        }

        /// <summary>Keys of one length, one behind the other.</summary>
        public Filter CreateFilterFixed(byte[] data, int keyLength)
        {
            var keys = Native.CountFixed(data, "data", keyLength);
            var filter = Native.NewFilter(Native.leveldb_bloom_filter_size(handle, keys));
            Native.Check(Native.leveldb_bloom_fill_filter_fixed(handle, data, Native.Size(keyLength),
                keys, filter, Native.Size(filter.Length)));
            return new Filter(filter);
        }

        public void Dispose() { handle.Dispose(); }
    }

    /// <summary>Collects keys as they come; for one thread at a time.</summary>
    public sealed class Builder : IDisposable
    {
        private readonly BuilderHandle handle;

        public Builder(int bitsPerKey, FilterEncoding encoding = FilterEncoding.Bloom)
        {
            handle = encoding == FilterEncoding.Ribbon
                ? Native.leveldb_bloom_builder_create_ribbon(bitsPerKey)
                : Native.leveldb_bloom_builder_create(bitsPerKey);
            if (handle.IsInvalid) throw new OutOfMemoryException();
        }

        public long Count { get { return (long)Native.leveldb_bloom_builder_num_keys(handle); } }

        public void Add(byte[] key)
        {
            Native.Check(Native.leveldb_bloom_builder_add(handle, key, Native.Length(key, "key")));
        }

        public void AddFixed(byte[] data, int keyLength)
        {
            Native.Check(Native.leveldb_bloom_builder_add_fixed(handle, data, Native.Size(keyLength),
                Native.CountFixed(data, "data", keyLength)));
        }

        /// <summary>The filter of the keys added, as large as one for totalKeys, or for those added if
        /// that is 0; the builder is empty again. Parts of one filter, made with the same total, are
        /// united with Filter.Union.</summary>
        public Filter Finish(ulong totalKeys = 0)
        {
            var total = (UIntPtr)totalKeys;
            var filter = Native.NewFilter(Native.leveldb_bloom_builder_filter_size(handle, total));
            Native.Check(Native.leveldb_bloom_builder_finish(handle, total, filter,
                Native.Size(filter.Length)));
            return new Filter(filter);
        }

        public void Dispose() { handle.Dispose(); }
    }

    /// <summary>What the bytes of a filter say.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct FilterInfo
    {
        public ulong Bits;
        public ulong BitsSet;
        public uint Probes;
        public FilterEncoding Encoding;
        public double Fill;
        public double EstimatedKeys;
        public double FalsePositiveRate;
    }

    /// <summary>The bytes of a filter: one key, or many at once. Filters of equal bytes are equal.</summary>
    public sealed class Filter : IEquatable<Filter>
    {
        private readonly byte[] data;

        public Filter(byte[] data)
        {
            if (data == null) throw new ArgumentNullException("data");
            this.data = data;
        }

        public byte[] Data { get { return data; } }

        public bool Equals(Filter other) { return other != null && data.SequenceEqual(other.data); }

        public override bool Equals(object other) { return Equals(other as Filter); }

        public override int GetHashCode()
        {
            return (int)Native.leveldb_bloom_hash(data, (UIntPtr)(uint)data.Length);
        }

        public bool MayMatch(byte[] key)
        {
            return Native.leveldb_bloom_key_may_match(key, Native.Length(key, "key"), data,
                (UIntPtr)(uint)data.Length) != 0;
        }

        /// <summary>A byte of 0 or 1 for each key.</summary>
        public byte[] MayMatchOffsets(byte[] keys, long[] offsets)
        {
            var results = new byte[(int)Native.CountOffsets(offsets)];
            Native.Check(Native.leveldb_bloom_keys_may_match_offsets64(keys,
                Native.Length(keys, "keys"), offsets, Native.CountOffsets(offsets), data,
                Native.Size(data.Length), results, null, IntPtr.Zero));
            return results;
        }

        public byte[] MayMatchFixed(byte[] keys, int keyLength)
        {
            var results = new byte[(int)Native.CountFixed(keys, "keys", keyLength)];
            Native.Check(Native.leveldb_bloom_keys_may_match_fixed(keys, Native.Size(keyLength),
                Native.Size(results.Length), data, Native.Size(data.Length), results, null, IntPtr.Zero));
            return results;
        }

        /// <summary>The filter of both filters' keys.</summary>
        public Filter Union(Filter other)
        {
            if (other == null) throw new ArgumentNullException("other");
            var into = (byte[])data.Clone();
            Native.Check(Native.leveldb_bloom_union(into, Native.Size(into.Length), other.data,
                Native.Size(other.data.Length)));
            return new Filter(into);
        }

        public FilterInfo Inspect()
        {
            FilterInfo info;
            Native.Check(Native.leveldb_bloom_inspect(data, Native.Size(data.Length), out info));
            return info;
        }

        /// <summary>The bits that a query for the key reads.</summary>
        public ulong[] Positions(byte[] key)
        {
            var found = new ulong[30];
            var number = Native.leveldb_bloom_positions(key, Native.Length(key, "key"), data,
                Native.Size(data.Length), found, Native.Size(found.Length));
            Array.Resize(ref found, (int)number);
            return found;
        }
    }
}
