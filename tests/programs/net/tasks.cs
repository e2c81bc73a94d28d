using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

// Tasks, the thread pool, timers, async methods, cancellation, AsyncLocal.
class Tasks
{
    static readonly AsyncLocal<string> local = new AsyncLocal<string>();

    static async Task<int> Twice(int n) { await Task.Yield(); return n * 2; }

    static async Task<int> Sum(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++) sum += await Twice(i);
        return sum;
    }

    static async Task Main()
    {
        Console.WriteLine(await Task.Run(() => 42));
        Console.WriteLine(await Sum(100));
        var results = await Task.WhenAll(Enumerable.Range(0, 50).Select(n => Task.Run(() => n * n)));
        Console.WriteLine(results.Sum());
        Console.WriteLine(Thread.CurrentThread.IsThreadPoolThread);
        local.Value = "outer";
        await Task.Run(() => { Console.WriteLine(local.Value); local.Value = "inner"; });
        Console.WriteLine(local.Value);
        using var cancel = new CancellationTokenSource();
        var delayed = Task.Delay(Timeout.Infinite, cancel.Token);
        cancel.Cancel();
        try { await delayed; } catch (TaskCanceledException e) { Console.WriteLine(e.Message); }
        try { await Task.Run(() => throw new InvalidOperationException("in task")); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        try { Task.Run(() => throw new InvalidOperationException("waited")).Wait(); } catch (AggregateException e) { Console.WriteLine(e.Message); }
        int ticks = 0;
        using (var done = new ManualResetEventSlim())
        {
            using var timer = new Timer(_ => { if (Interlocked.Increment(ref ticks) == 3) done.Set(); }, null, 1, 1);
            done.Wait();
        }
        Console.WriteLine(ticks >= 3);
        await Task.Delay(5);
        int total = 0;
        Parallel.For(0, 1000, i => Interlocked.Add(ref total, i));
        Console.WriteLine(total);
        Console.WriteLine(Enumerable.Range(0, 1000).AsParallel().Where(n => n % 3 == 0).Sum());
        var queue = System.Threading.Channels.Channel.CreateBounded<int>(4);
        var producing = Task.Run(async () => { for (int i = 0; i < 100; i++) await queue.Writer.WriteAsync(i); queue.Writer.Complete(); });
        int received = 0;
        await foreach (int n in queue.Reader.ReadAllAsync()) received += n;
        Console.WriteLine(received);
        await producing;
        using var semaphore = new SemaphoreSlim(2);
        int inside = 0, most = 0;
        await Task.WhenAll(Enumerable.Range(0, 20).Select(async _ =>
        {
            await semaphore.WaitAsync();
            int now = Interlocked.Increment(ref inside);
            lock (semaphore) most = Math.Max(most, now);
            await Task.Yield();
            Interlocked.Decrement(ref inside);
            semaphore.Release();
        }));
        Console.WriteLine(most <= 2);
        var waiting = new TaskCompletionSource<string>();
        ThreadPool.QueueUserWorkItem(_ => waiting.SetResult("queued"));
        Console.WriteLine(await waiting.Task);
        var registered = new TaskCompletionSource<bool>();
        using var signal = new AutoResetEvent(false);
        ThreadPool.RegisterWaitForSingleObject(signal, (s, timedOut) => registered.SetResult(timedOut), null, Timeout.Infinite, true);
        signal.Set();
        Console.WriteLine(await registered.Task);
        var continued = Task.FromResult(1).ContinueWith(t => t.Result + 1).ContinueWith(t => t.Result + 1);
        Console.WriteLine(await continued);
        Console.WriteLine(await Task.WhenAny(Task.Delay(Timeout.Infinite), Task.FromResult(3)) is Task<int>);
    }
}
