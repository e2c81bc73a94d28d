// Interlocked and Volatile on all widths; cancellation tokens, linked sources, registrations.
using System;
using System.Threading;
using System.Threading.Tasks;

enum State { Idle, Busy, Done }

static class Test
{
    static int number = 5;
    static long wide = 1L << 40;
    static string text = "first";
    static byte small = 250;
    static State state;
    static double real = 0.5;
    static bool flag;

    static void Main()
    {
        Console.WriteLine(Interlocked.Increment(ref number) + " " + Interlocked.Add(ref wide, -1) + " " + Interlocked.Exchange(ref number, 9) + " " + Interlocked.CompareExchange(ref number, 1, 9) + " " + number);
        Console.WriteLine(Interlocked.Or(ref number, 6) + " " + Interlocked.And(ref number, 3) + " " + number + " " + Interlocked.Read(ref wide));
        Console.WriteLine(Interlocked.Exchange(ref text, "second") + " " + Interlocked.CompareExchange(ref text, "third", "none") + " " + text);
        Console.WriteLine(Interlocked.Exchange(ref small, (byte)7) + " " + Interlocked.CompareExchange(ref small, (byte)8, (byte)7) + " " + small);
        Console.WriteLine(Interlocked.Exchange(ref state, State.Busy) + " " + Interlocked.CompareExchange(ref state, State.Done, State.Busy) + " " + state);
        Console.WriteLine(Interlocked.Exchange(ref real, 1.5) + " " + real + " " + Interlocked.Exchange(ref flag, true) + " " + Volatile.Read(ref flag));
        Volatile.Write(ref text, "written");
        Interlocked.MemoryBarrier();
        Console.WriteLine(text);
        int total = 0;
        Parallel.For(0, 10000, i => Interlocked.Add(ref total, i));
        Console.WriteLine(total);

        using var source = new CancellationTokenSource();
        using var linked = CancellationTokenSource.CreateLinkedTokenSource(source.Token, CancellationToken.None);
        var first = linked.Token.Register(() => Console.WriteLine("first"));
        linked.Token.Register(s => Console.WriteLine(s), "second");
        using (linked.Token.UnsafeRegister(_ => Console.WriteLine("never"), null)) { }
        Console.WriteLine(source.Token.CanBeCanceled + " " + CancellationToken.None.CanBeCanceled + " " + linked.IsCancellationRequested);
        source.Cancel();
        Console.WriteLine(linked.IsCancellationRequested + " " + source.Token.WaitHandle.WaitOne(0) + " " + first.Unregister());
        try { linked.Token.ThrowIfCancellationRequested(); } catch (OperationCanceledException e) { Console.WriteLine(e.CancellationToken == linked.Token); }
        Console.WriteLine(Task.FromCanceled(source.Token).IsCanceled + " " + source.TryReset());
        using var faulty = new CancellationTokenSource();
        faulty.Token.Register(() => throw new InvalidOperationException("in callback"));
        try { faulty.Cancel(); } catch (AggregateException e) { Console.WriteLine(e.InnerExceptions[0].Message); }
        Task task = Task.Run(() => { while (true) { faulty.Token.ThrowIfCancellationRequested(); Thread.Yield(); } }, faulty.Token);
        try { task.Wait(); } catch (AggregateException e) { Console.WriteLine(e.InnerException.GetType().Name + " " + task.Status); }
    }
}
