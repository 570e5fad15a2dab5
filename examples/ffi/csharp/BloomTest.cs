// The wrapper of LevelDbBloom.cs: golden values, a million keys, errors, threads, the collector.

using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using LevelDbBloom;

public static class BloomTest
{
    private const int KeyLength = 16;
    private const int Keys = 1000000;
    private const int Half = Keys / 2;
    private const int Batch = 100000;

    private static void Check(bool condition, object what)
    {
        if (!condition) throw new Exception("not so: " + what);
    }

    private static byte[] Unhex(string text)
    {
        return text == "-" ? new byte[0] : Enumerable.Range(0, text.Length / 2)
            .Select(i => Convert.ToByte(text.Substring(2 * i, 2), 16)).ToArray();
    }

    private static int Golden()
    {
        var lines = File.ReadAllLines(Environment.GetEnvironmentVariable("LEVELDB_BLOOM_GOLDEN"));
        foreach (var line in lines)
        {
            var fields = line.Split(' ');
            switch (fields[0])
            {
                case "filter":
                    var keys = fields.Skip(3).Select(Unhex).ToArray();
                    using (var policy = new Policy(int.Parse(fields[1])))
                    using (var builder = new Builder(int.Parse(fields[1])))
                    {
                        Check(policy.CreateFilter(keys).Data.SequenceEqual(Unhex(fields[2])), line);
                        foreach (var key in keys) builder.Add(key);
                        Check(builder.Count == keys.Length, line);
                        Check(builder.Finish().Data.SequenceEqual(Unhex(fields[2])), line);
                        Check(builder.Count == 0, line);
                    }
                    break;
                case "hash":
                    Check(Bloom.Hash(Unhex(fields[1])) == Convert.ToUInt32(fields[2], 16), line);
                    break;
                case "answer":
                    var asked = Unhex(fields[1]);
                    var filter = new Filter(Unhex(fields[2]));
                    Check(filter.MayMatch(asked) == (fields[3] == "1"), line);
                    Check(filter.MayMatchOffsets(asked, new long[] { 0, asked.Length })[0] ==
                        byte.Parse(fields[3]), line);
                    break;
                default:
                    throw new Exception(line);
            }
        }
        return lines.Length;
    }

    private static void Library()
    {
        Check(Bloom.Version == "1.0.0", Bloom.Version);
        Check(Bloom.BitsPerKeyFor(0.01, Keys) == 11, "bits per key");
        var rate = Bloom.FalsePositiveRate(11, Keys);
        Check(rate > 0.005 && rate < 0.01, rate);
        using (var policy = new Policy(10))
        {
            var hello = Encoding.ASCII.GetBytes("hello");
            var filter = policy.CreateFilter(new[] { hello, Encoding.ASCII.GetBytes("world") });
            var info = filter.Inspect();
            Check(info.Bits == 64 && info.Probes == 6 && info.BitsSet == 10, info.BitsSet);
            Check(info.Fill == 10.0 / 64, info.Fill);
            Check(info.EstimatedKeys > 1.81 && info.EstimatedKeys < 1.82, info.EstimatedKeys);
            Check(info.FalsePositiveRate > 0.004 && info.FalsePositiveRate < 0.005, info.FalsePositiveRate);
            var positions = filter.Positions(hello);
            Check(positions.Length == 6, positions.Length);
            Check(positions.All(p => (filter.Data[p / 8] >> (int)(p % 8) & 1) == 1), "positions");
        }
        var key = new byte[] { 97 };
        using (var policy = new Policy(44))
        {
            var filter = policy.CreateFilter(new[] { key });
            Check(filter.Positions(key).Length == 30, "probes");
            Check(filter.Positions(key).Distinct().Count() == (int)filter.Inspect().BitsSet, "all are set");
        }
    }

    private static void Ribbon()
    {
        var keys = new[] { "hello", "world" }.Select(Encoding.ASCII.GetBytes).ToArray();
        using (var policy = new Policy(10, FilterEncoding.Ribbon))
        using (var builder = new Builder(10, FilterEncoding.Ribbon))
        {
            var filter = policy.CreateFilter(keys);
            foreach (var key in keys) builder.Add(key);
            Check(builder.Finish().Data.SequenceEqual(filter.Data), "builder");
            Check(keys.All(filter.MayMatch), "present keys");
            Check(!filter.MayMatch(Encoding.ASCII.GetBytes("absent")), "an absent key");
            var info = filter.Inspect();
            Check(info.Encoding == FilterEncoding.Ribbon && info.Probes == 10, info.Probes);
            Check(info.FalsePositiveRate == 1.0 / 1024, info.FalsePositiveRate);
            Fails(4, () => filter.Union(filter));
        }
    }

    private static void Fails(int status, Action call)
    {
        try
        {
            call();
        }
        catch (BloomException e)
        {
            Check(e.Status == status && e.Message == Bloom.StatusMessage(status), e);
            return;
        }
        throw new Exception("no status " + status);
    }

    private static void Fails<T>(Action call) where T : Exception
    {
        try
        {
            call();
        }
        catch (T)
        {
            return;
        }
        throw new Exception("no " + typeof(T));
    }

    private static void IsNull(string parameter, Action call)
    {
        try
        {
            call();
        }
        catch (ArgumentNullException e)
        {
            Check(e.ParamName == parameter, e);
            return;
        }
        throw new Exception("null for " + parameter);
    }

    private static void Errors()
    {
        var policy = new Policy(10);
        var builder = new Builder(10);
        var a = new byte[] { 97 };
        var small = policy.CreateFilter(new[] { a });
        Fails(4, () => small.Union(policy.CreateFilter(Enumerable.Repeat(a, 100))));
        Fails(2, () => builder.Finish(1UL << 63));
        foreach (var total in new[] { 1UL << 31, 1UL << 40, 1UL << 60 })
        {
            Fails<OutOfMemoryException>(() => builder.Finish(total));
        }
        IsNull("data", () => new Filter(null));
        foreach (var wrong in new[] { new long[] { 0, 7, 5 }, new long[] { -1, 7, 9 }, new long[] { 0, 5, 11 } })
        {
            Fails(1, () => policy.CreateFilterOffsets(new byte[10], wrong));
            Fails(1, () => small.MayMatchOffsets(new byte[10], wrong));
        }
        foreach (var keys in new[] { -1, long.MinValue })
        {
            Fails<ArgumentOutOfRangeException>(() => Bloom.FalsePositiveRate(10, keys));
            Fails<ArgumentOutOfRangeException>(() => Bloom.BitsPerKeyFor(0.01, keys));
        }
        foreach (var length in new[] { 2, 0, -1 })
        {
            Fails<ArgumentException>(() => policy.CreateFilterFixed(new byte[5], length));
            Fails<ArgumentException>(() => small.MayMatchFixed(new byte[5], length));
            Fails<ArgumentException>(() => builder.AddFixed(new byte[5], length));
        }
        Fails<ArgumentException>(() => policy.CreateFilterOffsets(new byte[5], new long[0]));
        Fails<ArgumentException>(() => small.MayMatchOffsets(new byte[5], new long[0]));
        IsNull("key", () => Bloom.Hash(null));
        IsNull("keys", () => policy.CreateFilter(null));
        Fails<ArgumentException>(() => policy.CreateFilter(new[] { a, null }));
        IsNull("data", () => policy.CreateFilterFixed(null, 1));
        IsNull("data", () => policy.CreateFilterOffsets(null, new long[] { 0 }));
        IsNull("offsets", () => policy.CreateFilterOffsets(a, null));
        IsNull("key", () => builder.Add(null));
        IsNull("data", () => builder.AddFixed(null, 1));
        IsNull("key", () => small.MayMatch(null));
        IsNull("keys", () => small.MayMatchFixed(null, 1));
        IsNull("keys", () => small.MayMatchOffsets(null, new long[] { 0 }));
        IsNull("offsets", () => small.MayMatchOffsets(a, null));
        IsNull("other", () => small.Union(null));
        IsNull("key", () => small.Positions(null));
        var other = policy.CreateFilter(new[] { new byte[] { 98 } });
        var both = policy.CreateFilter(new[] { a, new byte[] { 98 } });
        Check(small.Union(other).Data.SequenceEqual(both.Data), "union");
        Check(small.Data.SequenceEqual(policy.CreateFilter(new[] { a }).Data), "after a union");
        for (var i = 0; i < 2; i++)
        {
            policy.Dispose();
            builder.Dispose();
        }
        Fails<ObjectDisposedException>(() => policy.CreateFilter(new[] { a }));
        Fails<ObjectDisposedException>(() => policy.CreateFilterFixed(a, 1));
        Fails<ObjectDisposedException>(() => Check(policy.Kernel == null, "kernel"));
        Fails<ObjectDisposedException>(() => builder.Add(a));
        Fails<ObjectDisposedException>(() => builder.AddFixed(a, 1));
        Fails<ObjectDisposedException>(() => builder.Finish());
        Fails<ObjectDisposedException>(() => Check(builder.Count == 0, "count"));
    }

    private static void Collector()
    {
        // What is disposed of at once, and what is left to the collector: of 40 MB each, which malloc does
        // not keep.
        var keys = new byte[10 * Keys];
        var before = ResidentBytes();
        for (var i = 0; i < 10; i++)
        {
            using (var builder = new Builder(10)) builder.AddFixed(keys, 1);
        }
        Check(ResidentBytes() < before + 100L * Keys, "bytes left: " + (ResidentBytes() - before));
        var thread = new Thread(() =>
        {
            for (var i = 0; i < 10; i++) new Builder(10).AddFixed(keys, 1);
        });
        thread.Start();
        thread.Join();
        for (var i = 0; i < 100 && ResidentBytes() > before + 100L * Keys; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Thread.Sleep(10);
        }
        Check(ResidentBytes() < before + 100L * Keys, "bytes left: " + (ResidentBytes() - before));
    }

    private static long ResidentBytes()
    {
        using (var process = Process.GetCurrentProcess()) return process.WorkingSet64;
    }

    private static double BestOf(int rounds, Action work)
    {
        var best = double.MaxValue;
        for (var i = 0; i < rounds; i++)
        {
            var watch = Stopwatch.StartNew();
            work();
            best = Math.Min(best, watch.Elapsed.TotalSeconds);
        }
        return best;
    }

    public static void Main()
    {
        CultureInfo.DefaultThreadCurrentCulture = CultureInfo.InvariantCulture;
        Thread.CurrentThread.CurrentCulture = CultureInfo.InvariantCulture;
        var golden = Golden();
        Library();
        Ribbon();
        Errors();
        Collector();

        var keys = Enumerable.Range(0, Keys)
            .Select(i => Encoding.ASCII.GetBytes("key-" + i.ToString("D12"))).ToArray();
        var data = new byte[Keys * KeyLength];
        for (var i = 0; i < Keys; i++) keys[i].CopyTo(data, i * KeyLength);
        var half = data.Take(Half * KeyLength).ToArray();
        var policy = new Policy(10);
        var filter = policy.CreateFilterFixed(half, KeyLength);
        var answers = filter.MayMatchFixed(data, KeyLength);
        for (var i = 0; i < Keys; i++) Check(filter.MayMatch(keys[i]) == (answers[i] == 1), i);
        var offsets = Enumerable.Range(0, Keys + 1).Select(i => (long)i * KeyLength).ToArray();
        Check(filter.MayMatchOffsets(data, offsets).SequenceEqual(answers), "offsets");

        var parts = new Filter[4];
        var failures = new List<Exception>();
        var threads = Enumerable.Range(0, parts.Length).Select(number => new Thread(() =>
        {
            try
            {
                Check(filter.MayMatchFixed(data, KeyLength).SequenceEqual(answers), "answers");
                Check(policy.CreateFilterFixed(half, KeyLength).Data.SequenceEqual(filter.Data), "filter");
                using (var builder = new Builder(10))
                {
                    var size = half.Length / parts.Length;
                    builder.AddFixed(half.Skip(number * size).Take(size).ToArray(), KeyLength);
                    parts[number] = builder.Finish(Half);
                }
            }
            catch (Exception e)
            {
                lock (failures) failures.Add(e);
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Check(failures.Count == 0, failures.FirstOrDefault());
        Check(parts.Aggregate((all, part) => all.Union(part)).Data.SequenceEqual(filter.Data),
            "parts united");

        var found = 0;
        var one = BestOf(200, () =>
        {
            for (var i = Half - 500; i < Half + 500; i++) if (filter.MayMatch(keys[i])) found++;
        });
        var batch = data.Skip((Half - Batch / 2) * KeyLength).Take(Batch * KeyLength).ToArray();
        var query = BestOf(200, () => filter.MayMatchFixed(batch, KeyLength));
        var build = BestOf(200, () => policy.CreateFilterFixed(batch, KeyLength));
        var mono = Type.GetType("Mono.Runtime").GetMethod("GetDisplayName",
            System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static);
        Console.WriteLine("{{\"language\":\"C#\",\"through\":\"P/Invoke\",\"runtime\":\"Mono {0}\"," +
            "\"library\":\"{1}\",\"active\":\"{2}\",\"kernel\":\"{3}\",\"golden\":{4},\"matches\":{5},\"distinct\":{10}," +
            "\"filter_hash\":\"{6:x8}\",\"call_ns\":{7:F1},\"query_keys_per_s\":{8:F0}," +
            "\"build_keys_per_s\":{9:F0} }}", ((string)mono.Invoke(null, null)).Split(' ')[0],
            Bloom.Version, Bloom.Active, policy.Kernel, golden, answers.Count(a => a == 1),
            Bloom.Hash(filter.Data), one / 1000 * 1e9, Batch / query, Batch / build,
            new HashSet<Filter> { filter, policy.CreateFilterFixed(batch, KeyLength), new Filter((byte[])filter.Data.Clone()) }
                .Count);
    }
}
