// Finalizers: run once after the object died, suppression and re-registration, resurrection, order with weak handles.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

class Counted
{
    public static int Finalized;
    ~Counted() { Interlocked.Increment(ref Finalized); }
}

class Child : Counted
{
    public static int ChildFinalized;
    ~Child() { Interlocked.Increment(ref ChildFinalized); }
}

class Phoenix
{
    public static readonly List<Phoenix> Risen = new List<Phoenix>();
    public int Lives;
    ~Phoenix()
    {
        Lives++;
        lock (Risen)
            Risen.Add(this);
    }
}

class Again
{
    public static int Times;
    bool registeredAgain;
    ~Again()
    {
        Interlocked.Increment(ref Times);
        if (registeredAgain)
            return;
        registeredAgain = true;
        GC.ReRegisterForFinalize(this);
    }
}

class Owner : IDisposable
{
    public static int Disposed, FinalizedOwners;
    readonly Counted owned = new Counted();
    public void Dispose() { Disposed++; GC.SuppressFinalize(this); GC.KeepAlive(owned); }
    ~Owner() { Interlocked.Increment(ref FinalizedOwners); }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int n)
    {
        for (int i = 0; i < n; i++)
        {
            new Child();
            new Phoenix();
            new Again();
            using (new Owner()) { }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
    }

    static void Collect()
    {
        for (int i = 0; i < 3; i++)
        {
            Clear(100);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void Main()
    {
        const int n = 1000;
        Make(n);
        Collect();
        // A few objects may stay alive through stale words on the stack.
        Console.WriteLine("counted {0}", Counted.Finalized > 2 * n - 50 && Counted.Finalized <= 2 * n);
        Console.WriteLine("child {0}", Child.ChildFinalized > n - 50 && Child.ChildFinalized <= n);
        Console.WriteLine("suppressed {0} {1}", Owner.Disposed, Owner.FinalizedOwners);
        Console.WriteLine("again {0}", Again.Times > 2 * n - 100 && Again.Times <= 2 * n);
        int risen = Phoenix.Risen.Count;
        bool once = true;
        foreach (Phoenix p in Phoenix.Risen)
            once &= p.Lives == 1;
        Console.WriteLine("resurrected {0} {1}", risen > n - 50 && risen <= n, once);
        GC.ReRegisterForFinalize(Phoenix.Risen[0]);
        Phoenix.Risen.Clear();
        Collect();
        Console.WriteLine("not finalised a second time unless registered: {0}", Phoenix.Risen.Count <= 1 + (n - risen));
    }
}
