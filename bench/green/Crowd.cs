// Making threads, and many of them that wait at the same time.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

static class Crowd
{
    static void DoNothing() { }

    public static void Create()
    {
        Thread kept = null;
        Figures.Print("new", Figures.Nanoseconds(1000, count =>
        {
            for (long i = 0; i < count; i++)
                kept = new Thread(DoNothing);
        }));
        GC.KeepAlive(kept);
        Figures.Print("create", Figures.Nanoseconds(100, count =>
        {
            for (long i = 0; i < count; i++)
            {
                Thread thread = new Thread(DoNothing);
                thread.Start();
                thread.Join();
            }
        }));
    }

    static int parked;
    static ManualResetEvent gate;

    static void Wait()
    {
        Interlocked.Increment(ref parked);
        gate.WaitOne();
    }

    // Starts so many threads and returns when all wait at the gate.
    static Thread[] Gather(int count, int stackKilobytes)
    {
        gate = new ManualResetEvent(false);
        Volatile.Write(ref parked, 0);
        Thread[] threads = new Thread[count];
        ThreadStart wait = Wait;
        for (int i = 0; i < count; i++)
        {
            threads[i] = new Thread(wait, stackKilobytes << 10);
            threads[i].Start();
        }
        while (Volatile.Read(ref parked) < count)
            Thread.Sleep(1);
        return threads;
    }

    static void Release(Thread[] threads)
    {
        gate.Set();
        foreach (Thread thread in threads)
            thread.Join();
    }

    // Microseconds a thread of the first round and of the best of the following ones; bytes a thread that waits.
    public static void Park(int count, int stackKilobytes, int rounds)
    {
        Release(Gather(10, stackKilobytes));
        GC.Collect();
        double resident = Figures.StatusBytes("VmRSS"), tables = Figures.StatusBytes("VmPTE");
        double next = double.MaxValue;
        for (int round = 0; round < rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            Thread[] threads = Gather(count, stackKilobytes);
            watch.Stop();
            if (round == 0)
            {
                GC.Collect();
                Figures.Print("resident", (Figures.StatusBytes("VmRSS") - resident) / count);
                Figures.Print("tables", (Figures.StatusBytes("VmPTE") - tables) / count);
            }
            watch.Start();
            Release(threads);
            double microseconds = watch.Elapsed.TotalMilliseconds * 1000 / count;
            if (round == 0)
                Figures.Print("first", microseconds);
            else
                next = Math.Min(next, microseconds);
        }
        if (rounds > 1)
            Figures.Print("next", next);
        Figures.Print("at", count);
    }

    // Milliseconds that a collection of generation 0 stops a thread that allocates, beside so many that wait.
    public static void Pauses(int count)
    {
        const int Collections = 60, ObjectsPerStep = 500;
        Thread[] threads = Gather(count, 0);
        GC.Collect();
        List<double> gaps = new List<double>();
        byte[][] kept = new byte[1000][];
        int seen = GC.CollectionCount(0), place = 0;
        Stopwatch watch = Stopwatch.StartNew();
        while (gaps.Count < Collections && watch.Elapsed.TotalSeconds < 20)
        {
            double start = watch.Elapsed.TotalMilliseconds;
            for (int i = 0; i < ObjectsPerStep; i++)
                kept[place++ % kept.Length] = new byte[100];
            double end = watch.Elapsed.TotalMilliseconds;
            int now = GC.CollectionCount(0);
            if (now != seen)
                gaps.Add(end - start);
            seen = now;
        }
        if (gaps.Count < 3)
            throw new Exception("only " + gaps.Count + " collections");
        gaps.Sort();
        Figures.Print("p50", gaps[gaps.Count / 2]);
        Figures.Print("max", gaps[gaps.Count - 1]);
        Figures.Print("at", count);
        Release(threads);
    }
}
