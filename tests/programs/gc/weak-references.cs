// Weak references and GC handles: targets live while referenced, die after, long ones survive into finalisation.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Target
{
    public readonly int N;
    public Target(int n) { N = n; }
}

static class Program
{
    // The objects are made on frames that are gone, and many of them, because a stack is scanned conservatively.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(List<WeakReference> weak, List<WeakReference<Target>> typed, int n)
    {
        for (int i = 0; i < n; i++)
        {
            weak.Add(new WeakReference(new Target(i)));
            typed.Add(new WeakReference<Target>(new Target(i)));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
    }

    static void Main()
    {
        List<WeakReference> weak = new List<WeakReference>();
        List<WeakReference<Target>> typed = new List<WeakReference<Target>>();
        Make(weak, typed, 1000);
        Target kept = new Target(7);
        WeakReference keptWeak = new WeakReference(kept);
        GCHandle strong = GCHandle.Alloc(new Target(8)), weakHandle = GCHandle.Alloc(kept, GCHandleType.Weak);
        Clear(100);
        GC.Collect();
        GC.Collect();
        int alive = 0;
        foreach (WeakReference w in weak)
            if (w.IsAlive)
                alive++;
        Target found;
        foreach (WeakReference<Target> w in typed)
            if (w.TryGetTarget(out found))
                alive++;
        Console.WriteLine("few survive: {0}", alive < 100);
        Console.WriteLine("{0} {1}", keptWeak.IsAlive, ((Target)keptWeak.Target).N);
        Console.WriteLine("{0} {1}", ((Target)strong.Target).N, ReferenceEquals(weakHandle.Target, kept));
        strong.Target = "replaced";
        GC.Collect();
        Console.WriteLine("{0} {1}", strong.Target, strong.IsAllocated);
        IntPtr raw = GCHandle.ToIntPtr(strong);
        Console.WriteLine(GCHandle.FromIntPtr(raw).Target);
        strong.Free();
        Console.WriteLine(strong.IsAllocated);
        keptWeak.Target = weak;
        Console.WriteLine(ReferenceEquals(keptWeak.Target, weak));
        byte[] buffer = { 1, 2, 3, 4 };
        GCHandle pinned = GCHandle.Alloc(buffer, GCHandleType.Pinned);
        IntPtr address = pinned.AddrOfPinnedObject();
        for (int i = 0; i < 50; i++)
        {
            byte[][] garbage = new byte[100][];
            for (int j = 0; j < 100; j++)
                garbage[j] = new byte[1000];
            GC.Collect(0);
        }
        Console.WriteLine("{0} {1}", address == pinned.AddrOfPinnedObject(), Marshal.ReadByte(address, 2));
        pinned.Free();
        try
        {
            pinned.Free();
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("freed twice");
        }
        GC.KeepAlive(kept);
    }
}
