// A program that limits its thread pool gets the limit, however many workers the pool would have without one.
using System;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static void Main()
    {
        Console.WriteLine(ThreadPool.SetMaxThreads(0, 10));
        Console.WriteLine(ThreadPool.SetMaxThreads(64, 64));
        ThreadPool.GetMaxThreads(out int workers, out int completions);
        ThreadPool.GetMinThreads(out int least, out _);
        Console.WriteLine($"{workers} {completions} {least <= 64}");
        Console.WriteLine(ThreadPool.SetMinThreads(65, 1));

        int running = 0, most = 0;
        var tasks = new Task[400];
        for (int i = 0; i < tasks.Length; i++)
        {
            tasks[i] = Task.Run(() =>
            {
                int now = Interlocked.Increment(ref running);
                for (int seen = most; now > seen && Interlocked.CompareExchange(ref most, now, seen) != seen; seen = most) { }
                Thread.Sleep(1);
                Interlocked.Decrement(ref running);
            });
        }
        Task.WaitAll(tasks);
        Console.WriteLine(most is > 0 and <= 64);
    }
}
