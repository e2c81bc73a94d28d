// mcs: -unsafe
// GCHandle: every kind, change of target, pinned addresses, resurrection, stale and wrong use, many threads.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Phoenix
{
    public static Phoenix Last;
    public int N;
    ~Phoenix() { Last = this; }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
    }

    static void Collect()
    {
        for (int i = 0; i < 2; i++)
        {
            Clear(100);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void Throws(string what, Action action)
    {
        try
        {
            action();
            Console.WriteLine("{0}: nothing thrown", what);
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeMany(List<GCHandle> weak, List<GCHandle> track, int n)
    {
        for (int i = 0; i < n; i++)
        {
            var phoenix = new Phoenix { N = i };
            weak.Add(GCHandle.Alloc(phoenix, GCHandleType.Weak));
            track.Add(GCHandle.Alloc(phoenix, GCHandleType.WeakTrackResurrection));
        }
    }

    static int CountAlive(List<GCHandle> handles)
    {
        int alive = 0;
        foreach (GCHandle handle in handles)
            if (handle.Target != null)
                alive++;
        return alive;
    }

    static void Kinds()
    {
        foreach (GCHandleType kind in Enum.GetValues(typeof(GCHandleType)))
        {
            string text = new string('x', 3) + kind;
            GCHandle handle = GCHandle.Alloc(text, kind);
            Collect();
            Console.WriteLine("{0} {1} {2}", kind, handle.Target, handle.IsAllocated);
            handle.Target = "other";
            Console.WriteLine("{0} {1}", handle.Target, handle == GCHandle.FromIntPtr(GCHandle.ToIntPtr(handle)));
            handle.Target = null;
            Console.WriteLine(handle.Target == null);
            handle.Free();
            Console.WriteLine(handle.IsAllocated);
            GC.KeepAlive(text);
        }
    }

    static void Resurrection()
    {
        List<GCHandle> weak = new List<GCHandle>(), track = new List<GCHandle>();
        const int n = 500;
        MakeMany(weak, track, n);
        Clear(100);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("short ones cleared: {0}", CountAlive(weak) < 50);
        Phoenix last = Phoenix.Last;
        bool found = false;
        foreach (GCHandle handle in track)
            found |= ReferenceEquals(handle.Target, last);
        Console.WriteLine("long one sees the resurrected object: {0}", found);
        Collect();
        Console.WriteLine("long ones cleared: {0}", CountAlive(track) < 50);
        foreach (GCHandle handle in weak)
            handle.Free();
        foreach (GCHandle handle in track)
            handle.Free();
        GC.KeepAlive(last);
    }

    struct Blittable { public int A; public double B; }

    class Plain { public object Reference; }

    static unsafe void Pinning()
    {
        var array = new Blittable[3];
        array[1].A = 77;
        GCHandle pinned = GCHandle.Alloc(array, GCHandleType.Pinned);
        var address = (Blittable*)pinned.AddrOfPinnedObject();
        Collect();
        Console.WriteLine("array {0} {1}", address[1].A, pinned.AddrOfPinnedObject() == (IntPtr)address);
        address[2].B = 2.5;
        Console.WriteLine(array[2].B.ToString(System.Globalization.CultureInfo.InvariantCulture));
        pinned.Free();
        string text = "pinned";
        GCHandle handle = GCHandle.Alloc(text, GCHandleType.Pinned);
        Console.WriteLine(new string((char*)handle.AddrOfPinnedObject()));
        handle.Free();
        object boxed = new Blittable { A = 5 };
        handle = GCHandle.Alloc(boxed, GCHandleType.Pinned);
        Console.WriteLine(((Blittable*)handle.AddrOfPinnedObject())->A);
        handle.Free();
        handle = GCHandle.Alloc(null, GCHandleType.Pinned);
        Console.WriteLine(handle.AddrOfPinnedObject());
        handle.Free();
        byte[] bytes = { 1, 2, 3 };
        fixed (byte* p = bytes)
        {
            Collect();
            p[1] = 9;
        }
        Console.WriteLine(bytes[1]);
        Throws("address of a normal handle", () =>
        {
            GCHandle normal = GCHandle.Alloc(new Plain());
            try { normal.AddrOfPinnedObject(); }
            finally { normal.Free(); }
        });
    }

    static void WrongUse()
    {
        GCHandle none = default(GCHandle);
        Throws("target of none", () => { object o = none.Target; });
        Throws("free of none", () => none.Free());
        Throws("from zero", () => GCHandle.FromIntPtr(IntPtr.Zero));
        GCHandle handle = GCHandle.Alloc("a");
        GCHandle copy = handle;
        handle.Free();
        Throws("double free", () => handle.Free());
#if !NET // where that is undefined
        // A copy of a freed handle, whose slot another handle has.
        GCHandle other = GCHandle.Alloc("b");
        Throws("target of a copy", () => { object o = copy.Target; });
        Throws("new target of a copy", () => copy.Target = "c");
        Throws("free of a copy", () => copy.Free());
        Console.WriteLine(other.Target);
        other.Free();
#endif
    }

    static void Threads()
    {
        int wrong = 0;
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                var held = new Queue<GCHandle>();
                for (int j = 0; j < 20000; j++)
                {
                    object target = j;
                    GCHandle handle = GCHandle.Alloc(target, (GCHandleType)(j & 3));
                    if (!ReferenceEquals(handle.Target, target))
                        Interlocked.Increment(ref wrong);
                    held.Enqueue(handle);
                    if (held.Count > 100)
                        held.Dequeue().Free();
                }
                while (held.Count > 0)
                    held.Dequeue().Free();
            });
        }
        foreach (Thread thread in threads)
            thread.Start();
        for (int i = 0; i < 5; i++)
            GC.Collect();
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("wrong targets {0}", wrong);
    }

    static void Main()
    {
        Kinds();
        Resurrection();
        Pinning();
        WrongUse();
        Threads();
    }
}
