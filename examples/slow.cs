// A program that is slower than it has to be, for docs/profiling.md: it counts the words of a text that it makes up, on four threads.
using System;
using System.Collections.Generic;
using System.Text;
using System.Threading;

sealed class Entry
{
    public string Word;
    public int Count;
}

// Counts words. What makes it slow: it looks through all the words that it knows, one after the other.
sealed class Counter
{
    readonly List<Entry> entries = new List<Entry>();

    public void Add(string word)
    {
        Entry entry = Find(word);
        if (entry == null)
            entries.Add(entry = new Entry { Word = word });
        entry.Count++;
    }

    Entry Find(string word)
    {
        for (int i = 0; i < entries.Count; i++)
            if (string.CompareOrdinal(entries[i].Word, word) == 0)
                return entries[i];
        return null;
    }

    // What makes it allocate: each line copies the whole report.
    public string Report()
    {
        entries.Sort((a, b) => b.Count - a.Count);
        string report = "";
        foreach (Entry entry in entries)
            report += entry.Count + " " + entry.Word + "\n";
        return report;
    }
}

static class Slow
{
    static readonly object gate = new object();
    static readonly Counter all = new Counter();

    static string MakeText(int seed, int words)
    {
        var random = new Random(seed);
        var text = new StringBuilder();
        for (int i = 0; i < words; i++)
            text.Append("word").Append(random.Next(40) * random.Next(40)).Append(i % 12 == 11 ? '\n' : ' ');
        return text.ToString();
    }

    static void Work(int seed, int rounds)
    {
        for (int round = 0; round < rounds; round++)
        {
            var own = new Counter();
            string[] words = MakeText(seed * 100 + round, 20000).Split(' ', '\n');
            foreach (string word in words)
                own.Add(word);
            own.Report();
            // What makes the others wait: the lock is held while the words are counted again.
            lock (gate)
                for (int i = 0; i < words.Length; i += 4)
                    all.Add(words[i]);
        }
    }

    static void Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 10;
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            int seed = i;
            threads[i] = new Thread(() => Work(seed, rounds)) { Name = "Worker " + (i + 1) };
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("{0} characters of report", all.Report().Length);
    }
}
