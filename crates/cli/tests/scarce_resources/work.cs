// A little of everything that takes address space: threads, handles, monitors, large arrays, collections, tasks.
using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

// What a handle is made of.
[StructLayout (LayoutKind.Explicit)]
struct Number {
    [FieldOffset (0)] public int bits;
    [FieldOffset (0)] public GCHandle handle;
}

class Work {
    static int found;

    static void Fill () {
        var texts = new Dictionary<int, string> ();
        for (int i = 0; i < 20000; i++)
            texts [i % 1000] = i.ToString ();
        lock (typeof (Work))
            found += texts.Count;
    }

    static void Main () {
        var threads = new List<Thread> ();
        for (int i = 0; i < 3; i++) {
            threads.Add (new Thread (Fill));
            threads [i].Start ();
        }
        foreach (var thread in threads)
            thread.Join ();
        Console.WriteLine (found);
        Console.WriteLine (Task.Run (() => 42).Result);

        var handles = new List<GCHandle> ();
        for (int i = 0; i < 2000; i++)
            handles.Add (GCHandle.Alloc ("text " + i, i % 2 == 0 ? GCHandleType.Normal : GCHandleType.Pinned));
        Console.WriteLine (handles [1999].Target);
        foreach (var handle in handles)
            handle.Free ();
        try {
            Console.WriteLine (new Number { bits = 0x7ffffff1 }.handle.Target);
        } catch (InvalidOperationException) {
            Console.WriteLine ("no handle");
        }

        int sum = 0;
        for (int i = 0; i < 20; i++) {
            var large = new byte[1000000];
            large [i] = 1;
            sum += large [i];
        }
        GC.Collect ();
        GC.WaitForPendingFinalizers ();
        Console.WriteLine (sum);
    }
}
