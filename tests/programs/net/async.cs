// async and await: results, exceptions, loops, ValueTask, async streams, disposal, WhenAll and WhenAny, AsyncLocal, cancellation and time-outs.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

static class Test
{
    static readonly AsyncLocal<string> Local = new();

    static async Task<int> Twice(int n) { await Task.Yield(); return 2 * n; }

    static async ValueTask<int> Later(int n) { if (n > 0) await Task.Delay(1); return n; }

    static async Task Fails(string text) { await Task.Yield(); throw new InvalidOperationException(text); }

    static async IAsyncEnumerable<int> Numbers(int count, [EnumeratorCancellation] CancellationToken token = default)
    {
        try
        {
            for (int i = 0; i < count; i++)
            {
                token.ThrowIfCancellationRequested();
                await Task.Yield();
                yield return i;
            }
        }
        finally { Console.WriteLine("numbers end"); }
    }

    sealed class Resource : IAsyncDisposable
    {
        public async ValueTask DisposeAsync() { await Task.Yield(); Console.WriteLine("disposed"); }
    }

    static async Task<int> Main()
    {
        Console.WriteLine(await Twice(21));
        Console.WriteLine(await Later(0) + await Later(1));
        int sum = 0;
        for (int i = 0; i < 1000; i++) sum += await Twice(i);
        Console.WriteLine(sum);
        try { await Fails("one"); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        Task both = Task.WhenAll(Fails("a"), Fails("b"));
        try { await both; } catch (InvalidOperationException) { Console.WriteLine(string.Join(" ", both.Exception.InnerExceptions.Select(e => e.Message).Order())); }
        await using (new Resource())
            await foreach (int i in Numbers(5))
            {
                Console.Write(i + " ");
                if (i == 3) break;
            }
        int[] all = await Task.WhenAll(Enumerable.Range(0, 50).Select(Twice));
        Console.WriteLine(all.Sum());
        var never = new TaskCompletionSource<int>();
        Task<int> first = await Task.WhenAny(never.Task, Twice(4));
        Console.WriteLine(await first);
        try { await never.Task.WaitAsync(TimeSpan.FromMilliseconds(5)); } catch (TimeoutException e) { Console.WriteLine(e.GetType().Name); }
        using var source = new CancellationTokenSource();
        Task waiting = Task.Delay(Timeout.Infinite, source.Token);
        source.Cancel();
        try { await waiting; } catch (OperationCanceledException) { Console.WriteLine("cancelled " + waiting.Status); }
        Local.Value = "outer";
        await Task.Run(() => { Console.Write(Local.Value + " "); Local.Value = "inner"; });
        Console.WriteLine(Local.Value);
        await foreach (var done in Task.WhenEach(Twice(1), Twice(1))) Console.Write(await done + " ");
        Console.WriteLine(await Task.Run(async () => { await Task.Delay(1).ConfigureAwait(false); return "end"; }));
        return 0;
    }
}
