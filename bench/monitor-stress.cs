// Many threads lock many short-lived objects while the collector runs: thin locks, inflation, hash codes and deflation
// together. Prints the seconds it took on standard error; the argument scales the work.
using System;
using System.Diagnostics;
using System.Threading;

class Account
{
    public long Balance;
    public byte[] Ballast = new byte[16];
}

class MonitorStress
{
    const int Threads = 6;
    const int Accounts = 500;
    static readonly Account[] accounts = new Account[Accounts];
    static long transfers, retired;

    static void Worker(int seed, int rounds)
    {
        uint random = (uint)seed * 2654435761u + 1;
        for (int i = 0; i < rounds; i++)
        {
            random = random * 1664525u + 1013904223u;
            int a = (int)((random >> 8) % Accounts), b = (int)((random >> 16) % Accounts);
            Account first = accounts[a], second = accounts[b];
            if (i % 16 == 0) first.GetHashCode();
            lock (first)
            {
                first.Balance--;
                var scratch = new byte[32];
                lock (scratch) scratch[0] = 1;
                if (i % 256 == 0 && Monitor.TryEnter(second, 1))
                {
                    try { second.GetHashCode(); } finally { Monitor.Exit(second); }
                }
            }
            lock (second) second.Balance++;
            Interlocked.Increment(ref transfers);
            if (i % 64 == 0)
            {
                // Exchanges an account for a fresh one: its monitor becomes garbage.
                Account fresh = new Account();
                Account old = Interlocked.Exchange(ref accounts[a], fresh);
                lock (old) { Interlocked.Add(ref retired, old.Balance); old.Balance = 0; }
            }
        }
    }

    static void Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 1000 * 1000;
        for (int i = 0; i < Accounts; i++) accounts[i] = new Account();
        var clock = Stopwatch.StartNew();
        var threads = new Thread[Threads];
        for (int n = 0; n < Threads; n++)
        {
            int seed = n + 1;
            threads[n] = new Thread(() => Worker(seed, rounds));
            threads[n].Start();
        }
        foreach (var thread in threads) thread.Join();
        Console.Error.WriteLine("{0:F2} s", clock.Elapsed.TotalSeconds);
        Console.WriteLine(transfers == (long)Threads * rounds ? "ok" : "wrong");
    }
}
