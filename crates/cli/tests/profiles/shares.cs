// Functions with known shares of their threads' time, 10, 20, 30 and 40 of a hundred: each computes for its part of every round.
// Arguments: rounds in thousands (some 0.3 s each), threads. One thread more only waits.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

static class Shares
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;

    [MethodImpl(Apart)]
    static double Ten(int n) { double x = 1; for (int i = 0; i < n; i++) x = x * 1.0000001 + 0.1; return x; }

    [MethodImpl(Apart)]
    static double Twenty(int n) { double x = 1; for (int i = 0; i < n; i++) x = x * 1.0000001 + 0.1; return x; }

    [MethodImpl(Apart)]
    static double Thirty(int n) { double x = 1; for (int i = 0; i < n; i++) x = x * 1.0000001 + 0.1; return x; }

    static double Step(double x) { return x * 1.0000001 + 0.1; }

    // What it does is inlined.
    [MethodImpl(Apart)]
    static double Forty(int n) { double x = 1; for (int i = 0; i < n; i++) x = Step(x); return x; }

    static void Work(int rounds)
    {
        double sum = 0;
        for (int round = 0; round < rounds; round++)
            sum += Ten(10000) + Twenty(20000) + Thirty(30000) + Forty(40000);
        GC.KeepAlive(sum);
    }

    static void Main(string[] args)
    {
        int rounds = (int)(1000 * double.Parse(args[0]));
        new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true, Name = "Idle" }.Start();
        var threads = new Thread[int.Parse(args[1])];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => Work(rounds)) { Name = "Busy " + i };
            threads[i].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine("ok");
    }
}
