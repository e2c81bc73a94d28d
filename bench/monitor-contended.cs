// Lock throughput under contention: millions of lock/unlock pairs a second for 1 to 8 threads, with a short section and
// some work outside it, and how evenly the threads shared the lock (least / most of one thread's share).
using System;
using System.Diagnostics;
using System.Threading;

class MonitorContended
{
    static int milliseconds = 500;
    static volatile bool stop;
    static long shared;

    static void Run(string name, int threads, int inside, int outside)
    {
        object gate = new object();
        var counts = new long[threads * 16];
        var workers = new Thread[threads];
        stop = false;
        shared = 0;
        using (var start = new ManualResetEventSlim(false))
        {
            for (int n = 0; n < threads; n++)
            {
                int me = n;
                workers[n] = new Thread(() =>
                {
                    start.Wait();
                    long count = 0, sum = 0;
                    while (!stop)
                    {
                        lock (gate)
                        {
                            shared++;
                            for (int i = 0; i < inside; i++) sum += i ^ shared;
                        }
                        for (int i = 0; i < outside; i++) sum += i * 7 ^ count;
                        count++;
                    }
                    counts[me * 16] = count;
                    counts[me * 16 + 1] = sum;
                });
                workers[n].Start();
            }
            var clock = Stopwatch.StartNew();
            start.Set();
            Thread.Sleep(milliseconds);
            stop = true;
            foreach (var worker in workers) worker.Join();
            double seconds = clock.Elapsed.TotalSeconds;
            long total = 0, least = long.MaxValue, most = 0;
            for (int n = 0; n < threads; n++)
            {
                long count = counts[n * 16];
                total += count;
                least = Math.Min(least, count);
                most = Math.Max(most, count);
            }
            if (total != shared) throw new Exception("lost updates: " + total + " " + shared);
            Console.WriteLine("{0,-10}{1} threads {2,9:F2} M/s   share {3:F2}", name, threads, total / seconds / 1e6,
                (double)least / most);
        }
    }

    static void Main(string[] args)
    {
        if (args.Length > 0) milliseconds = int.Parse(args[0]);
        Run("warm-up", 2, 1, 1);
        foreach (int threads in new[] { 1, 2, 4, 8 })
        {
            Run("short", threads, 1, 1);
            Run("work", threads, 20, 200);
        }
    }
}
