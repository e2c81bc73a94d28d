// What samplers fear, all at once: busy threads make dynamic methods, run them and drop them, while collections are forced, threads start and end, and application
// domains are loaded and unloaded. Names tell who may call what: method_K_N is made and run by WorkK alone.
// Arguments: seconds, busy threads (8 at most), dynamic methods in all, which are made also if that takes longer.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

public static class InDomain
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Spins() { if (Storm.Spin(5) == 0) throw new Exception(); }
}

static class Storm
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    // Every hundredth of a second ten threads. They end on their own; so many may be under way, since each waits for its turn on a processor.
    const int ThreadsAtOnce = 10, ThreadMilliseconds = 10, MaxUnderWay = 100;
    // Amid signals the world takes long to stop: a collection is followed by a time that is longer by this factor, so that the others get on.
    const int RestFactor = 2, LeastRestMilliseconds = 20;

    delegate int Unary(int x);

    static int next, methods, started, domains, collections;
    static long wrong, end;
    static readonly Stopwatch watch = Stopwatch.StartNew();

    static bool IsOver { get { return watch.ElapsedMilliseconds >= end && Volatile.Read(ref next) >= methods; } }

    [MethodImpl(Apart)]
    public static int Spin(int x)
    {
        for (int i = 0; i < 400; i++)
            x = x * 31 + i;
        return x;
    }

    static Unary Make(string name, int value)
    {
        var method = new DynamicMethod(name, typeof(int), new[] { typeof(int) }, typeof(Storm).Module);
        ILGenerator il = method.GetILGenerator();
        LocalBuilder count = il.DeclareLocal(typeof(int));
        Label again = il.DefineLabel();
        il.Emit(OpCodes.Ldc_I4, 20000);
        il.Emit(OpCodes.Stloc, count);
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldloc, count);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Stloc, count);
        il.Emit(OpCodes.Ldloc, count);
        il.Emit(OpCodes.Brtrue, again);
        il.Emit(OpCodes.Ldarg_0);
        if (value % 2 == 0)
            il.EmitCall(OpCodes.Call, typeof(Storm).GetMethod("Spin"), null);
        il.Emit(OpCodes.Ldc_I4, value);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return (Unary)method.CreateDelegate(typeof(Unary));
    }

    [MethodImpl(Apart)]
    static void Run(int thread)
    {
        int index = Interlocked.Increment(ref next) - 1;
        if (index >= methods)
        {
            for (int i = 0; i < 100; i++) Spin(i);
            return;
        }
        int expected = index + (index % 2 == 0 ? Spin(3) : 3);
        Unary made = Make("method_" + thread + "_" + index, index);
        if (made(3) != expected)
            Interlocked.Increment(ref wrong);
    }

    [MethodImpl(Apart)] static void Work0() { while (!IsOver) Run(0); }
    [MethodImpl(Apart)] static void Work1() { while (!IsOver) Run(1); }
    [MethodImpl(Apart)] static void Work2() { while (!IsOver) Run(2); }
    [MethodImpl(Apart)] static void Work3() { while (!IsOver) Run(3); }
    [MethodImpl(Apart)] static void Work4() { while (!IsOver) Run(4); }
    [MethodImpl(Apart)] static void Work5() { while (!IsOver) Run(5); }
    [MethodImpl(Apart)] static void Work6() { while (!IsOver) Run(6); }
    [MethodImpl(Apart)] static void Work7() { while (!IsOver) Run(7); }

    [MethodImpl(Apart)]
    static void Brief() { for (int i = 0; i < 20; i++) Spin(i); }

    static void StartsThreads()
    {
        var underWay = new Queue<Thread>();
        for (long due = watch.ElapsedMilliseconds; !IsOver; due += ThreadMilliseconds)
        {
            for (int i = 0; i < ThreadsAtOnce; i++)
            {
                var thread = new Thread(Brief);
                thread.Start();
                underWay.Enqueue(thread);
                started++;
            }
            while (underWay.Count > MaxUnderWay || underWay.Count > 0 && !underWay.Peek().IsAlive)
                underWay.Dequeue().Join();
            long early = due + ThreadMilliseconds - watch.ElapsedMilliseconds;
            if (early > 0)
                Thread.Sleep((int)early);
        }
        foreach (Thread thread in underWay)
            thread.Join();
    }

    [MethodImpl(Apart)]
    static void Domains()
    {
        while (!IsOver)
        {
            AppDomain domain = AppDomain.CreateDomain("domain " + domains);
            for (int i = 0; i < 20; i++)
                domain.DoCallBack(InDomain.Spins);
            AppDomain.Unload(domain);
            domains++;
        }
    }

    static void Collects()
    {
        while (!IsOver)
        {
            long began = watch.ElapsedMilliseconds;
            GC.Collect(collections % 4 == 0 ? 1 : 0);
            collections++;
            Thread.Sleep((int)Math.Max(LeastRestMilliseconds, RestFactor * (watch.ElapsedMilliseconds - began)));
        }
    }

    static int Main(string[] args)
    {
        end = long.Parse(args[0]) * 1000;
        methods = int.Parse(args[2]);
        var work = new ThreadStart[] { Work0, Work1, Work2, Work3, Work4, Work5, Work6, Work7 };
        var threads = new Thread[int.Parse(args[1]) + 3];
        for (int i = 0; i < threads.Length - 3; i++)
            threads[i] = new Thread(work[i]);
        threads[threads.Length - 3] = new Thread(StartsThreads);
        threads[threads.Length - 2] = new Thread(Domains);
        threads[threads.Length - 1] = new Thread(Collects);
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        double seconds = watch.ElapsedMilliseconds / 1000.0;
        Console.Error.WriteLine("storm: {0:0} methods, {1:0} threads, {2:0.0} domains, {3:0.0} collections a second, {4:0} s",
            Math.Min(next, methods) / seconds, started / seconds, domains / seconds, collections / seconds, seconds);
        Console.WriteLine(wrong == 0 && domains > 0 ? "ok" : "wrong results: " + wrong + ", domains: " + domains);
        return wrong == 0 ? 0 : 1;
    }
}
