// Threads that are made and never started, named and unnamed, beside threads that run: their objects die, names stay what they were, and an
// empty critical finalizer keeps nothing waiting.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.ConstrainedExecution;
using System.Threading;

// Has no finalizer but the empty one that it inherits.
class Quiet : CriticalFinalizerObject
{
    public static int Made;
    public Quiet() { Made++; }
}

class Loud : Quiet
{
    public static int Finalized;
    ~Loud() { Interlocked.Increment(ref Finalized); }
}

class UnstartedAndNamed
{
    const int Count = 3000;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] Make()
    {
        var references = new WeakReference[Count];
        for (int i = 0; i < Count; i++)
        {
            var thread = new Thread(() => { });
            if (i % 2 == 0) thread.Name = "unstarted " + i;
            if (i % 3 == 0) thread.IsBackground = true;
            references[i] = new WeakReference(thread);
        }
        return references;
    }

    static int Alive(WeakReference[] references)
    {
        int alive = 0;
        foreach (var reference in references) if (reference.IsAlive) alive++;
        return alive;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] MakeQuiet()
    {
        var references = new WeakReference[Count];
        for (int i = 0; i < Count; i++)
        {
            references[i] = new WeakReference(new Quiet(), i % 2 == 0);
            new Loud();
        }
        return references;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RunNamed()
    {
        int right = 0;
        var threads = new Thread[300];
        for (int i = 0; i < threads.Length; i++)
        {
            string name = "runs " + i;
            threads[i] = new Thread(() => { if (Thread.CurrentThread.Name == (name.EndsWith("7") ? null : name)) Interlocked.Increment(ref right); });
            if (i % 10 != 7) threads[i].Name = name;
        }
        GC.Collect();
        foreach (var thread in threads) thread.Start();
        foreach (var thread in threads) thread.Join();
        foreach (var thread in threads) if (thread.ThreadState != ThreadState.Stopped) right = -1000;
        return right;
    }

    static void Main()
    {
        for (int round = 0; round < 3; round++)
        {
            var references = Make();
            int right = RunNamed();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Console.WriteLine("{0} {1}", right, Alive(references) < 30);
        }
        var quiet = MakeQuiet();
        for (int i = 0; i < 3; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); }
        Console.WriteLine("{0} {1} {2}", Quiet.Made, Alive(quiet) < 30, Loud.Finalized > Count - 30);
        var late = new Thread(() => Console.WriteLine(Thread.CurrentThread.Name));
        late.Name = "named, then started";
        late.Start();
        late.Join();
        try { late.Name = "another"; } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
    }
}
