// Nanoseconds for one lock/unlock that nobody contends for, in the forms programs use. The best of a hundred rounds,
// because other load on the machine multiplies the price of atomic instructions.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

class MonitorUncontended
{
    const int Count = 200 * 1000;
    static readonly object Gate = new object();
    static long counter;

    static void Empty() { for (int i = 0; i < Count; i++) counter++; }

    static void Statement() { object gate = Gate; for (int i = 0; i < Count; i++) lock (gate) counter++; }

    static void Nested()
    {
        object gate = Gate;
        lock (gate)
            for (int i = 0; i < Count; i++) lock (gate) counter++;
    }

    static void EnterExit()
    {
        object gate = Gate;
        for (int i = 0; i < Count; i++) { Monitor.Enter(gate); counter++; Monitor.Exit(gate); }
    }

    static void TryEnter()
    {
        object gate = Gate;
        for (int i = 0; i < Count; i++) if (Monitor.TryEnter(gate)) { counter++; Monitor.Exit(gate); }
    }

    [MethodImpl(MethodImplOptions.Synchronized | MethodImplOptions.NoInlining)]
    static void Step() { counter++; }

    static void SynchronizedMethod() { for (int i = 0; i < Count; i++) Step(); }

    static void Hashed()
    {
        object gate = new object();
        gate.GetHashCode();
        for (int i = 0; i < Count; i++) lock (gate) counter++;
    }

    static readonly object Contended = new object();

    static void Contend()
    {
        var ready = new ManualResetEvent(false);
        var thread = new Thread(() => { ready.Set(); lock (Contended) counter++; });
        lock (Contended) { thread.Start(); ready.WaitOne(); Thread.Sleep(30); }
        thread.Join();
    }

    static void AfterContention() { object gate = Contended; for (int i = 0; i < Count; i++) lock (gate) counter++; }

    static object shared = new object();
    static readonly object Other = new object();

    static void ExchangeReference()
    {
        object other = Other;
        for (int i = 0; i < Count; i++) other = Interlocked.Exchange(ref shared, other);
    }

    static void Increment() { for (int i = 0; i < Count; i++) Interlocked.Increment(ref counter); }

    static void Measure(string name, Action action)
    {
        action();
        double best = double.MaxValue;
        for (int round = 0; round < 100; round++)
        {
            var clock = Stopwatch.StartNew();
            action();
            best = Math.Min(best, clock.Elapsed.TotalMilliseconds * 1e6 / Count);
        }
        Console.WriteLine("{0,-22}{1,8:F2} ns", name, best);
    }

    static void Main(string[] args)
    {
        Measure("empty", Empty);
        Measure("lock", Statement);
        Measure("lock, nested", Nested);
        Measure("Enter+Exit", EnterExit);
        Measure("TryEnter+Exit", TryEnter);
        Measure("synchronized method", SynchronizedMethod);
        Measure("lock, hashed", Hashed);
        Contend();
        Measure("lock, was contended", AfterContention);
        Measure("Exchange<object>", ExchangeReference);
        Measure("Increment", Increment);
    }
}
