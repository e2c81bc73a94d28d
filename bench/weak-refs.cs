// Weak references: ten threads make them while the main thread collects without pause.
// Arguments: references per thread (default 5000), rounds (default 5).
using System;
using System.Threading;

static class WeakRefs
{
    const int Threads = 10;

    static int finished;

    static void Round(int perThread)
    {
        finished = 0;
        var threads = new Thread[Threads];
        for (int i = 0; i < Threads; i++)
        {
            threads[i] = new Thread(() =>
            {
                for (int j = 0; j < perThread; j++)
                    new WeakReference(new object());
                Interlocked.Increment(ref finished);
            });
        }
        foreach (Thread thread in threads)
            thread.Start();
        while (Volatile.Read(ref finished) != Threads)
        {
            GC.Collect();
            Thread.Sleep(1);
        }
        foreach (Thread thread in threads)
            thread.Join();
    }

    static void Main(string[] args)
    {
        int perThread = args.Length > 0 ? int.Parse(args[0]) : 5000;
        int rounds = args.Length > 1 ? int.Parse(args[1]) : 5;
        for (int i = 0; i < rounds; i++)
            Round(perThread);
        Console.WriteLine("{0} weak references", Threads * perThread * rounds);
    }
}
