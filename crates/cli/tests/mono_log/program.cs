// Known numbers of what Mono's log profiler writes. Argument: which.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Node
{
    public Node Next;
    static int finalized;
    // One that does something: an empty finalizer counts as none.
    ~Node() { finalized++; }
}

static class Log
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    static object kept;

    // Small enough to be inlined, if calls were not counted.
    static int Leaf(int x) { return x + 1; }
    static int Middle(int x) { return Leaf(x) + Leaf(x); }
    static int Deep(int depth) { return depth == 0 ? 0 : 1 + Deep(depth - 1); }

    static void Throws() { throw new InvalidOperationException(); }

    static void Passes()
    {
        try { Throws(); }
        finally { kept = null; }
    }

    static void Catches()
    {
        try { Passes(); }
        catch (ArgumentException) { }
        catch (InvalidOperationException) { }
    }

    static bool Filter(Exception e) { return e is InvalidOperationException; }

    static void Filters()
    {
        try { Throws(); }
        catch (Exception e) when (Filter(e)) { }
    }

    [MethodImpl(Apart)]
    static void Allocates(int count) { for (int i = 0; i < count; i++) kept = new Node(); }

    static Node List(int count)
    {
        Node list = null;
        for (int i = 0; i < count; i++) list = new Node { Next = list };
        return list;
    }

    static int Main(string[] args)
    {
        switch (args[0])
        {
            case "calls":
                int sum = 0;
                for (int i = 0; i < 100; i++) sum += Middle(i);
                Deep(20);
                for (int i = 0; i < 10; i++) Catches();
                for (int i = 0; i < 5; i++) Filters();
                break;
            case "objects":
                Allocates(1000);
                for (int i = 0; i < 50; i++) GCHandle.Alloc(new object(), GCHandleType.Pinned).Free();
                for (int i = 0; i < 10; i++) GCHandle.Alloc(args, GCHandleType.Weak).Free();
                for (int i = 0; i < 10; i++) Catches();
                GC.Collect();
                GC.WaitForPendingFinalizers();
                var gate = new object();
                var thread = new Thread(() => { lock (gate) { } }) { Name = "Second" };
                lock (gate)
                {
                    thread.Start();
                    Thread.Sleep(300);
                }
                thread.Join();
                lock (gate)
                {
                    var tries = new Thread(() => Monitor.TryEnter(gate, 0)) { Name = "Tries" };
                    tries.Start();
                    tries.Join();
                }
                break;
            case "heap":
                var list = List(5000);
                GC.Collect();
                kept = new Node { Next = list };
                GC.Collect();
                GC.KeepAlive(list);
                break;
            case "exit":
                Allocates(10);
                Console.WriteLine("ok");
                Environment.Exit(3);
                break;
            case "unhandled":
                Console.WriteLine("ok");
                Throws();
                break;
            case "domain":
                var other = AppDomain.CreateDomain("Other");
                other.DoCallBack(() => Allocates(100));
                AppDomain.Unload(other);
                break;
            case "dynamic":
                for (int i = 0; i < 100; i++)
                {
                    System.Linq.Expressions.Expression<Func<int, object>> e = x => new object[x];
                    kept = e.Compile()(i);
                }
                break;
            case "api":
                Api();
                break;
            case "roots":
                kept = List(10);
                GC.Collect();
                GC.Collect();
                kept = null;
                GC.Collect();
                break;
            case "sampling":
                Sampling();
                break;
            case "wait":
                kept = List(5000);
                Console.WriteLine("ready");
                Console.ReadLine();
                break;
        }
        Console.WriteLine("ok");
        return 0;
    }

    static double Computes(int milliseconds)
    {
        var watch = System.Diagnostics.Stopwatch.StartNew();
        double x = 1;
        while (watch.ElapsedMilliseconds < milliseconds)
            for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 0.1;
        return x;
    }

    [MethodImpl(Apart)] static void ByProcessor() { kept = Computes(600); }
    [MethodImpl(Apart)] static void Unseen() { kept = Computes(600); }
    [MethodImpl(Apart)] static void ByTheClock() { Thread.Sleep(600); }

    static void Sampling()
    {
        ByProcessor();
        Console.WriteLine(Mono.Profiler.Log.LogProfiler.SetSampleParameters(Mono.Profiler.Log.LogSampleMode.None, 1));
        Console.WriteLine(Mono.Profiler.Log.LogProfiler.SampleMode);
        Unseen();
        Console.WriteLine(Mono.Profiler.Log.LogProfiler.SetSampleParameters(Mono.Profiler.Log.LogSampleMode.Real, 200));
        Console.WriteLine("{0} {1}", Mono.Profiler.Log.LogProfiler.SampleMode, Mono.Profiler.Log.LogProfiler.SampleFrequency);
        ByTheClock();
    }

    static void Api()
    {
        var attached = Mono.Profiler.Log.LogProfiler.IsAttached;
        Console.WriteLine("attached {0}", attached);
        if (!attached) return;
        Console.WriteLine("{0} {1}", Mono.Profiler.Log.LogProfiler.MaxStackTraceFrames, Mono.Profiler.Log.LogProfiler.StackTraceFrames);
        Console.WriteLine("{0} {1}", Mono.Profiler.Log.LogProfiler.GCAllocationEventsEnabled, Mono.Profiler.Log.LogProfiler.ExceptionEventsEnabled);
        Allocates(100);
        Mono.Profiler.Log.LogProfiler.GCAllocationEventsEnabled = true;
        Allocates(7);
        Mono.Profiler.Log.LogProfiler.GCAllocationEventsEnabled = false;
        Allocates(100);
        Mono.Profiler.Log.LogProfiler.TriggerHeapshot();
        Console.WriteLine("{0}", Mono.Profiler.Log.LogProfiler.SampleMode);
    }
}
