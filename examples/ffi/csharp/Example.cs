// How many bits per key? The same words in filters of growing size, and what each lets through.

using System;
using System.Linq;
using System.Text;
using LevelDbBloom;

public static class Example
{
    private static byte[] Word(int number) { return Encoding.UTF8.GetBytes("word " + number); }

    public static void Main()
    {
        const int words = 10000;
        var present = Enumerable.Range(0, words).Select(Word).ToArray();
        var absent = Enumerable.Range(words, 10 * words).Select(Word).ToArray();
        Console.WriteLine("leveldb-bloom {0}, {1}", Bloom.Version, Bloom.Active);
        Console.WriteLine("bits per key   bytes  probes  bits set  expected    seen");
        foreach (var bits in new[] { 5, 10, 15, 20 })
        {
            using (var policy = new Policy(bits))
            {
                var filter = policy.CreateFilter(present);
                var info = filter.Inspect();
                Console.WriteLine("{0,12} {1,7} {2,7} {3,8:F1}% {4,8:F3}% {5,6:F3}%", bits,
                    filter.Data.Length, info.Probes, 100 * info.Fill,
                    100 * Bloom.FalsePositiveRate(bits, words),
                    100.0 * absent.Count(filter.MayMatch) / absent.Length);
            }
        }
    }
}
