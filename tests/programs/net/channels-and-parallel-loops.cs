// Channels, Parallel loops, PLINQ, continuations and dataflow through tasks.
using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;

static class Test
{
    static async Task Main()
    {
        var channel = Channel.CreateBounded<int>(4);
        Task producer = Task.Run(async () =>
        {
            for (int i = 0; i < 1000; i++) await channel.Writer.WriteAsync(i);
            channel.Writer.Complete();
        });
        long sum = 0;
        await foreach (int i in channel.Reader.ReadAllAsync()) sum += i;
        await producer;
        Console.WriteLine(sum + " " + channel.Reader.Completion.IsCompletedSuccessfully + " " + channel.Writer.TryWrite(1));
        var many = Channel.CreateUnbounded<string>(new UnboundedChannelOptions { SingleReader = true });
        await Task.WhenAll(Enumerable.Range(0, 8).Select(n => Task.Run(() => { for (int i = 0; i < 100; i++) many.Writer.TryWrite("x" + n); })));
        many.Writer.Complete(new InvalidOperationException("ended"));
        int count = 0;
        try { while (true) { await many.Reader.ReadAsync(); count++; } }
        catch (ChannelClosedException e) { Console.WriteLine(count + " " + e.InnerException.Message); }

        int[] squares = new int[1000];
        Parallel.For(0, squares.Length, i => squares[i] = i * i);
        Console.WriteLine(squares.Sum(s => (long)s));
        long total = 0;
        Parallel.For(0, 1000, () => 0L, (i, _, local) => local + i, local => Interlocked.Add(ref total, local));
        Console.WriteLine(total);
        var seen = new ConcurrentBag<int>();
        ParallelLoopResult result = Parallel.ForEach(Enumerable.Range(0, 100), (i, loop) => { if (i == 50) loop.Break(); else seen.Add(i); });
        Console.WriteLine(result.IsCompleted + " " + result.LowestBreakIteration + " " + Enumerable.Range(0, 50).All(seen.Contains));
        await Parallel.ForEachAsync(Enumerable.Range(0, 50), new ParallelOptions { MaxDegreeOfParallelism = 3 }, async (i, token) => { await Task.Yield(); Interlocked.Add(ref total, 1); });
        Console.WriteLine(total);
        try { Parallel.Invoke(() => throw new ArgumentException("a"), () => { }); } catch (AggregateException e) { Console.WriteLine(e.InnerExceptions.Count + " " + e.InnerException.Message); }
        Console.WriteLine(ParallelEnumerable.Range(1, 1000).Where(n => n % 7 == 0).Select(n => n * 2).Sum() + " " + Enumerable.Range(0, 100).AsParallel().AsOrdered().Select(n => n + 1).Take(3).Last());
        Console.WriteLine(await Task.FromResult(3).ContinueWith(t => t.Result + 1).ContinueWith(t => t.Result * 10, TaskContinuationOptions.ExecuteSynchronously));
        Task failed = Task.Factory.StartNew(() => throw new FormatException("bad"), CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        Console.WriteLine(await failed.ContinueWith(t => t.Exception.InnerException.Message, TaskContinuationOptions.OnlyOnFaulted));
    }
}
