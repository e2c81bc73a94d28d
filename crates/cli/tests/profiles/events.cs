// Known amounts of what profiles count. Argument: which.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

static class Events
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    static object kept;

    // 100 bytes of elements each: 300,000 times.
    [MethodImpl(Apart)]
    static void AllocatesThrice() { for (int i = 0; i < 300000; i++) kept = new byte[100]; }

    // As large, by way of other types: 100,000 times.
    [MethodImpl(Apart)]
    static void AllocatesOnce() { for (int i = 0; i < 100000; i++) kept = new short[50]; }

    [MethodImpl(Apart)]
    static void AllocatesLarge() { for (int i = 0; i < 100; i++) kept = new int[25000]; }

    [MethodImpl(Apart)]
    static void Throws()
    {
        for (int i = 0; i < 300; i++)
            try { throw new InvalidOperationException(); } catch (InvalidOperationException) { }
    }

    [MethodImpl(Apart)]
    static void Faults()
    {
        string nothing = null;
        for (int i = 0; i < 200; i++)
            try { GC.KeepAlive(nothing.Length); } catch (NullReferenceException) { }
    }

    [MethodImpl(Apart)]
    static void WaitsForLock(object gate) { lock (gate) { } }

    [MethodImpl(Apart)]
    static void Computes(int milliseconds)
    {
        var watch = Stopwatch.StartNew();
        double x = 1;
        while (watch.ElapsedMilliseconds < milliseconds)
            for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 0.1;
        GC.KeepAlive(x);
    }

    [MethodImpl(Apart)]
    static void Sleeps(int milliseconds) { Thread.Sleep(milliseconds); }

    static void Main(string[] args)
    {
        switch (args[0])
        {
            case "alloc":
                for (int i = 0; i < 2; i++) { AllocatesThrice(); AllocatesOnce(); AllocatesLarge(); }
                break;
            case "exceptions":
                Throws();
                Faults();
                break;
            case "lock":
                var gate = new object();
                var thread = new Thread(() => WaitsForLock(gate));
                lock (gate) { thread.Start(); Thread.Sleep(500); }
                thread.Join();
                break;
            case "gc":
                for (int i = 0; i < 3; i++) GC.Collect();
                break;
            case "wall":
                var sleeper = new Thread(() => Sleeps(2000)) { Name = "Sleeper" };
                var worker = new Thread(() => Computes(2000)) { Name = "Worker" };
                sleeper.Start();
                worker.Start();
                sleeper.Join();
                worker.Join();
                break;
        }
        Console.WriteLine("ok");
    }
}
