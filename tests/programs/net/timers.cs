// Timers call back until they are disposed of; PeriodicTimer; CancelAfter; TimeProvider; a Stopwatch does not run backwards.
using System;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

static class Test
{
    static async Task Main()
    {
        using var done = new CountdownEvent(3);
        int calls = 0;
        // Calls may overlap, and one may come while the timer is disposed of.
        using (var timer = new Timer(state => { if (Interlocked.Increment(ref calls) <= 3) ((CountdownEvent)state).Signal(); }, done, 1, 1))
            done.Wait();
        Console.WriteLine(done.CurrentCount);
        var watch = Stopwatch.StartNew();
        await Task.Delay(30);
        // .NET counts the delay by a clock that steps by some milliseconds.
        Console.WriteLine(watch.ElapsedMilliseconds >= 15);
        using var periodic = new PeriodicTimer(TimeSpan.FromMilliseconds(1));
        int ticks = 0;
        while (ticks < 3 && await periodic.WaitForNextTickAsync()) ticks++;
        Console.WriteLine(ticks);
        using var source = new CancellationTokenSource();
        var cancelled = new TaskCompletionSource<string>();
        using var registration = source.Token.Register(() => cancelled.SetResult("cancelled"));
        source.CancelAfter(2);
        Console.WriteLine(await cancelled.Task);
        var elapsed = new TaskCompletionSource();
        using var old = new System.Timers.Timer(1) { AutoReset = false };
        old.Elapsed += (_, e) => elapsed.TrySetResult();
        old.Start();
        await elapsed.Task;
        long start = TimeProvider.System.GetTimestamp();
        Thread.Sleep(2);
        Console.WriteLine(TimeProvider.System.GetElapsedTime(start) > TimeSpan.Zero);
        Console.WriteLine(Environment.TickCount64 > 0);
    }
}
