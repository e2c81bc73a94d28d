// A mixture of small algorithms as an end-to-end check: primes, permutations, a queue of jobs, matrices, text.
// mcs: -r:System.Numerics.dll
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

static class Program
{
    static IEnumerable<string> Permutations(string s)
    {
        if (s.Length <= 1)
            yield return s;
        else
            for (int i = 0; i < s.Length; i++)
                foreach (string rest in Permutations(s.Remove(i, 1)))
                    yield return s[i] + rest;
    }

    static int Queens(int n, int row, int columns, int left, int right)
    {
        if (row == n)
            return 1;
        int count = 0;
        for (int free = ((1 << n) - 1) & ~(columns | left | right); free != 0; free &= free - 1)
        {
            int bit = free & -free;
            count += Queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        }
        return count;
    }

    static int Levenshtein(string a, string b)
    {
        int[,] d = new int[a.Length + 1, b.Length + 1];
        for (int i = 0; i <= a.Length; i++)
            d[i, 0] = i;
        for (int j = 0; j <= b.Length; j++)
            d[0, j] = j;
        for (int i = 1; i <= a.Length; i++)
            for (int j = 1; j <= b.Length; j++)
                d[i, j] = Math.Min(Math.Min(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1));
        return d[a.Length, b.Length];
    }

    static string Collatz(long n)
    {
        StringBuilder b = new StringBuilder();
        for (; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1)
            b.Append(n).Append(' ');
        return b.Append(1).ToString();
    }

    static Dictionary<string, int> ShortestPaths(Dictionary<string, Dictionary<string, int>> graph, string start)
    {
        Dictionary<string, int> distance = new Dictionary<string, int> { { start, 0 } };
        SortedSet<Tuple<int, string>> queue = new SortedSet<Tuple<int, string>> { Tuple.Create(0, start) };
        while (queue.Count > 0)
        {
            Tuple<int, string> first = queue.Min;
            queue.Remove(first);
            foreach (KeyValuePair<string, int> edge in graph[first.Item2])
            {
                int candidate = first.Item1 + edge.Value, known;
                if (!distance.TryGetValue(edge.Key, out known) || candidate < known)
                {
                    distance[edge.Key] = candidate;
                    queue.Add(Tuple.Create(candidate, edge.Key));
                }
            }
        }
        return distance;
    }

    static int Ackermann(int m, int n)
    {
        return m == 0 ? n + 1 : n == 0 ? Ackermann(m - 1, 1) : Ackermann(m - 1, Ackermann(m, n - 1));
    }

    static void Main()
    {
        Console.WriteLine("{0} {1}", Permutations("abcd").Count(), string.Join(" ", Permutations("abc")));
        Console.WriteLine(string.Join(" ", Enumerable.Range(4, 6).Select(n => Queens(n, 0, 0, 0, 0))));
        Console.WriteLine("{0} {1}", Levenshtein("kitten", "sitting"), Levenshtein("", "abc"));
        Console.WriteLine(Collatz(27).Length + " " + Collatz(6));
        Dictionary<string, Dictionary<string, int>> graph = new Dictionary<string, Dictionary<string, int>>
        {
            { "a", new Dictionary<string, int> { { "b", 7 }, { "c", 3 } } },
            { "b", new Dictionary<string, int> { { "d", 2 } } },
            { "c", new Dictionary<string, int> { { "b", 1 }, { "d", 8 } } },
            { "d", new Dictionary<string, int>() },
        };
        Console.WriteLine(string.Join(" ", ShortestPaths(graph, "a").OrderBy(p => p.Key, StringComparer.Ordinal).Select(p => p.Key + p.Value)));
        Console.WriteLine("{0} {1}", Ackermann(2, 9), Ackermann(3, 5));
        string text = "it was the best of times it was the worst of times";
        Console.WriteLine(string.Join(" ", text.Split(' ').GroupBy(w => w).OrderByDescending(g => g.Count()).ThenBy(g => g.Key, StringComparer.Ordinal).Select(g => g.Key + g.Count())));
        byte[] data = Encoding.ASCII.GetBytes(text);
        uint crc = 0xffffffff;
        foreach (byte x in data)
        {
            crc ^= x;
            for (int k = 0; k < 8; k++)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xedb88320 : crc >> 1;
        }
        Console.WriteLine("{0:x8}", ~crc);
        System.Numerics.BigInteger big = System.Numerics.BigInteger.One;
        for (int i = 2; i <= 40; i++)
            big *= i;
        Console.WriteLine(big);
    }
}
