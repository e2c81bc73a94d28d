// Tasks, async and await, the thread pool, cancellation, parallel loops, timers.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static async Task<int> Add(int a, int b)
    {
        await Task.Yield();
        return a + b;
    }

    static async Task<int> Chain(int depth)
    {
        if (depth == 0)
            return 0;
        await Task.Delay(depth % 10 == 0 ? 1 : 0);
        return 1 + await Chain(depth - 1);
    }

    static async Task Failing(string message)
    {
        await Task.Yield();
        throw new InvalidOperationException(message);
    }

    static async Task<string> Handling()
    {
        string log = "";
        try
        {
            log += "try ";
            await Failing("awaited");
        }
        catch (InvalidOperationException e) when (e.Message == "awaited")
        {
            await Task.Yield();
            log += "catch-" + e.Message + " ";
        }
        finally
        {
            await Task.Yield();
            log += "finally";
        }
        return log;
    }

    static async Task<int> Loop(CancellationToken token)
    {
        int n = 0;
        while (true)
        {
            token.ThrowIfCancellationRequested();
            await Task.Delay(1, token);
            n++;
        }
    }

    static void Main()
    {
        Console.WriteLine(Add(2, 3).Result);
        Console.WriteLine(Chain(50).Result);
        Console.WriteLine(Handling().Result);
        Task<int>[] tasks = Enumerable.Range(0, 50).Select(i => Task.Run(() => i * i)).ToArray();
        Console.WriteLine(Task.WhenAll(tasks).Result.Sum());
        try
        {
            Failing("waited").Wait();
        }
        catch (AggregateException e)
        {
            Console.WriteLine("{0} {1}", e.InnerException.GetType().Name, e.InnerException.Message);
        }
        try
        {
            Failing("got").GetAwaiter().GetResult();
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);
        }
        CancellationTokenSource source = new CancellationTokenSource();
        Task<int> loop = Loop(source.Token);
        Thread.Sleep(10);
        source.Cancel();
        try
        {
            loop.Wait();
        }
        catch (AggregateException)
        {
            Console.WriteLine("{0} {1}", loop.Status, loop.IsCanceled);
        }
        Task<string> continued = Task.Run(() => 20).ContinueWith(t => "v" + t.Result).ContinueWith(t => t.Result + "!");
        Console.WriteLine(continued.Result);
        Task<int> faulted = Task.Run(new Func<int>(() => { throw new FormatException(); }));
        Console.WriteLine(faulted.ContinueWith(t => t.IsFaulted + " " + t.Exception.InnerException.GetType().Name).Result);
        TaskCompletionSource<string> completion = new TaskCompletionSource<string>();
        new Thread(() => completion.SetResult("completed")).Start();
        Console.WriteLine(completion.Task.Result);
        Console.WriteLine(Task.WhenAny(Task.Delay(10000), Task.Delay(1).ContinueWith(t => 1)).Result.IsCompleted);

        int total = 0;
        Parallel.For(0, 1000, i => Interlocked.Add(ref total, i));
        Parallel.ForEach(new[] { 1, 2, 3 }, i => Interlocked.Add(ref total, i));
        Console.WriteLine(total);
        Console.WriteLine(Enumerable.Range(0, 10000).AsParallel().Where(i => i % 7 == 0).Select(i => (long)i).Sum());
        CountdownEvent pool = new CountdownEvent(100);
        for (int i = 0; i < 100; i++)
            ThreadPool.QueueUserWorkItem(state => { Interlocked.Add(ref total, (int)state); pool.Signal(); }, i);
        pool.Wait();
        Console.WriteLine(total);
        int ticks = 0;
        ManualResetEvent enough = new ManualResetEvent(false);
        using (new Timer(state => { if (Interlocked.Increment(ref ticks) == 3) enough.Set(); }, null, 1, 1))
            Console.WriteLine(enough.WaitOne(10000));
        AsyncLocal<int> ambient = new AsyncLocal<int> { Value = 5 };
        Console.WriteLine(Task.Run(async () => { await Task.Yield(); int v = ambient.Value; ambient.Value = 9; return v; }).Result + ambient.Value);
        SemaphoreSlim slim = new SemaphoreSlim(1);
        int inside = 0;
        bool exclusive = true;
        Task.WaitAll(Enumerable.Range(0, 20).Select(async i =>
        {
            await slim.WaitAsync();
            exclusive &= Interlocked.Increment(ref inside) == 1;
            await Task.Yield();
            Interlocked.Decrement(ref inside);
            slim.Release();
        }).ToArray());
        Console.WriteLine(exclusive);
#if !NET
        Func<int, int> asynchronous = x => x + 1;
        IAsyncResult result = asynchronous.BeginInvoke(41, null, null);
        Console.WriteLine(asynchronous.EndInvoke(result));
#endif
    }
}
