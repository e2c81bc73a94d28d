// Entries of a recursive lock survive what other threads do to it: contention, which inflates the lock between any two of
// them, hash codes, waits, which give all of them up, and more entries than an object's header counts.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class RecursiveLocks
{
    static readonly object gate = new object();
    static int inside, turns, failures;
    static volatile bool stop;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nest(int depth)
    {
        lock (gate)
        {
            inside++;
            if (depth > 1)
                Nest(depth - 1);
            inside--;
        }
    }

    static void Check(bool condition, string what)
    {
        if (condition)
            return;
        Interlocked.Increment(ref failures);
        Console.WriteLine(what);
    }

    static void Work(int number)
    {
        var random = new Random(number);
        while (!stop)
        {
            lock (gate)
            {
                Check(inside == 0, "two owners");
                Nest(random.Next(20) == 0 ? 300 : 1 + random.Next(4));
                Check(inside == 0 && Monitor.IsEntered(gate), "not the owner after nested entries");
                turns++;
            }
            for (int i = random.Next(200); i > 0; i--)
                Thread.SpinWait(1);
        }
        Check(!Monitor.IsEntered(gate), "still the owner");
        try
        {
            Monitor.Exit(gate);
            Check(false, "one exit too many was accepted");
        }
        catch (SynchronizationLockException)
        {
        }
    }

    static void Hash()
    {
        int hash = gate.GetHashCode();
        while (!stop)
            Check(gate.GetHashCode() == hash, "another hash code");
    }

    static void Wait(int depth)
    {
        lock (gate)
        {
            if (depth > 1)
            {
                Wait(depth - 1);
            }
            else
            {
                Check(inside == 0, "two owners");
                Monitor.Wait(gate, 1);
                Check(inside == 0 && Monitor.IsEntered(gate), "not the owner after a wait");
            }
            Check(Monitor.IsEntered(gate), "the wait lost entries");
        }
    }

    static void WaitDeeply()
    {
        while (!stop)
        {
            Wait(3);
            Check(!Monitor.IsEntered(gate), "the wait left an entry behind");
            Wait(280);
            Check(!Monitor.IsEntered(gate), "the wait left an entry behind");
        }
    }

    static void Main()
    {
        var threads = new[]
        {
            new Thread(() => Work(1)), new Thread(() => Work(2)), new Thread(() => Work(3)),
            new Thread(Hash), new Thread(WaitDeeply),
        };
        foreach (Thread thread in threads)
            thread.Start();
        for (int i = 0; i < 20; i++)
        {
            Thread.Sleep(10);
            // A quiet lock goes back to a thin one, with and without collections.
            if (i % 4 == 0)
                GC.Collect();
        }
        stop = true;
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("{0} {1}", turns > 10 ? "ok" : "too few turns", failures);
    }
}
