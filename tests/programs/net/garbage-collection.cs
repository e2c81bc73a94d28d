// The GC's interface, weak references, ConditionalWeakTable, DependentHandle, finalizers, pinned and uninitialized arrays, handles.
using System;
using System.Linq;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

sealed class Finalized
{
    public static int Count;
    readonly byte[] weight = new byte[1000];
    ~Finalized() => Interlocked.Increment(ref Count);
}

static class Test
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeMany() { for (int i = 0; i < 1000; i++) _ = new Finalized(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference<object>[] Weak() => Enumerable.Range(0, 100).Select(_ => new WeakReference<object>(new object())).ToArray();

    static void Main()
    {
        MakeMany();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine(Finalized.Count > 900);
        object kept = new();
        var weak = Weak();
        var held = new WeakReference<object>(kept);
        GC.Collect();
        Console.WriteLine((weak.Count(w => !w.TryGetTarget(out _)) > 90) + " " + held.TryGetTarget(out object same) + " " + ReferenceEquals(same, kept));

        var table = new ConditionalWeakTable<object, string>();
        table.Add(kept, "value");
        table.AddOrUpdate(kept, "newer");
        Console.WriteLine(table.TryGetValue(kept, out string value) + " " + value + " " + table.GetValue("key", k => "made") + " " + table.TryAdd(kept, "no"));
        try { table.Add(kept, "twice"); } catch (ArgumentException e) { Console.WriteLine(e.GetType().Name); }
        var dependent = new DependentHandle(kept, "depends");
        GC.Collect();
        Console.WriteLine(dependent.IsAllocated + " " + dependent.TargetAndDependent.Dependent + " " + ReferenceEquals(dependent.Target, kept));
        dependent.Dispose();

        GCHandle pinned = GCHandle.Alloc(new byte[] { 1, 2, 3 }, GCHandleType.Pinned);
        Console.WriteLine(Marshal.ReadByte(pinned.AddrOfPinnedObject(), 2));
        pinned.Free();
        byte[] fixedArray = GC.AllocateArray<byte>(100, pinned: true);
        nint address = Marshal.UnsafeAddrOfPinnedArrayElement(fixedArray, 0);
        GC.Collect();
        Console.WriteLine(address == Marshal.UnsafeAddrOfPinnedArrayElement(fixedArray, 0));
        Console.WriteLine(GC.AllocateUninitializedArray<int>(5000).Length + " " + GC.MaxGeneration + " " + GC.GetGeneration(new object()));
        long before = GC.GetAllocatedBytesForCurrentThread();
        GC.KeepAlive(new byte[100000]);
        Console.WriteLine(GC.GetAllocatedBytesForCurrentThread() - before >= 100000);
        Console.WriteLine((GC.CollectionCount(0) >= 3) + " " + (GC.GetTotalMemory(false) > 0) + " " + (GC.GetGCMemoryInfo().HeapSizeBytes >= 0) + " " + (GC.GetTotalAllocatedBytes() > 0));
        Console.WriteLine(GCSettings.IsServerGC);
        GC.AddMemoryPressure(1000);
        GC.RemoveMemoryPressure(1000);
        var suppressed = new Finalized();
        GC.SuppressFinalize(suppressed);
        GC.ReRegisterForFinalize(suppressed);
        GC.KeepAlive(suppressed);
        Console.WriteLine(RuntimeHelpers.GetHashCode(kept) == RuntimeHelpers.GetHashCode(kept));
        GC.Collect(2, GCCollectionMode.Aggressive, true, true);
        GC.KeepAlive(kept);
    }
}
