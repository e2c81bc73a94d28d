// Threads that sleep, compute, or block in native code, beside each other.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class Work
{
    // Seconds until so many work items have slept 100 ms each.
    public static void Sleepers(int count)
    {
        Stopwatch watch = Stopwatch.StartNew();
        Task[] tasks = new Task[count];
        for (int i = 0; i < count; i++)
            tasks[i] = Task.Run(() => Thread.Sleep(100));
        Task.WaitAll(tasks);
        Figures.Print("seconds", watch.Elapsed.TotalSeconds);
        Figures.Print("at", count);
    }

    static volatile bool stop;
    static long sink;

    // Milliseconds of the longest gap between two ticks of a thread that sleeps 1 ms, beside so many that compute.
    public static void Ticker(int hogs)
    {
        const double MeasuredSeconds = 3;
        Thread[] threads = new Thread[hogs];
        for (int i = 0; i < hogs; i++)
        {
            threads[i] = new Thread(() =>
            {
                long mine = 1;
                while (!stop)
                    mine = mine * 31 + 7;
                Interlocked.Add(ref sink, mine);
            });
            threads[i].Start();
        }
        double worst = 0;
        Thread ticker = new Thread(() =>
        {
            Stopwatch watch = Stopwatch.StartNew();
            double before = 0;
            while (before < MeasuredSeconds * 1000)
            {
                Thread.Sleep(1);
                double now = watch.Elapsed.TotalMilliseconds;
                worst = Math.Max(worst, now - before);
                before = now;
            }
        });
        ticker.Start();
        ticker.Join();
        stop = true;
        foreach (Thread thread in threads)
            thread.Join();
        Figures.Print("gap", worst);
    }

    static long Compute(long seed)
    {
        long value = seed;
        for (int i = 0; i < 100000; i++)
            value = value * 6364136223846793005 + 1442695040888963407;
        return value;
    }

    // Seconds until so many threads have computed some 100 µs each.
    public static void Scale(int count)
    {
        Action run = () =>
        {
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++)
            {
                int seed = i;
                threads[i] = new Thread(() => Interlocked.Add(ref sink, Compute(seed)));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
        };
        run();
        double best = double.MaxValue;
        for (int round = 0; round < 3; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            run();
            best = Math.Min(best, watch.Elapsed.TotalSeconds);
        }
        Figures.Print("seconds", best);
    }

    [DllImport("libc.so.6")]
    static extern int usleep(uint microseconds);

    // Milliseconds until so many threads have blocked in native code for so many milliseconds, all at the same time.
    public static void Blocking(int count, int milliseconds)
    {
        usleep(1);
        double best = double.MaxValue;
        for (int round = 0; round < 3; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++)
            {
                threads[i] = new Thread(() => usleep((uint)milliseconds * 1000));
                threads[i].Start();
            }
            foreach (Thread thread in threads)
                thread.Join();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
        }
        Figures.Print("milliseconds", best);
    }
}
