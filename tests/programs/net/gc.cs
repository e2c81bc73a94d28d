using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

// The collector: finalizers, weak references, handles, dependent handles, pinned arrays.
class Collector
{
    static int finalized;
    class Finalized { ~Finalized() => finalized++; }
    class Resurrected { public static Resurrected? Again; ~Resurrected() { Again = this; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deeply(int depth, Action action) { if (depth == 0) action(); else { Deeply(depth - 1, action); GC.KeepAlive(action); } }

    static void Collect() { for (int i = 0; i < 3; i++) { GC.Collect(); GC.WaitForPendingFinalizers(); } }

    static void Main()
    {
        Console.WriteLine($"{GC.MaxGeneration} {GCSettings.IsServerGC} {GCSettings.LatencyMode}");
        Deeply(20, () => { for (int i = 0; i < 100; i++) new Finalized(); });
        Collect();
        Console.WriteLine(finalized >= 99);
        int before = finalized;
        Deeply(20, () => { for (int i = 0; i < 100; i++) GC.SuppressFinalize(new Finalized()); });
        Collect();
        Console.WriteLine(finalized <= before + 1);
        Deeply(20, () => new Resurrected());
        Collect();
        Console.WriteLine(Resurrected.Again != null);
        GC.ReRegisterForFinalize(Resurrected.Again!);

        WeakReference<object>[] weak = new WeakReference<object>[100];
        WeakReference[] tracking = new WeakReference[100];
        object kept = new object();
        Deeply(20, () => { for (int i = 0; i < 100; i++) { weak[i] = new WeakReference<object>(new object()); tracking[i] = new WeakReference(new object(), true); } });
        var alive = new WeakReference<object>(kept);
        Collect();
        int dead = 0;
        foreach (var w in weak) if (!w.TryGetTarget(out _)) dead++;
        foreach (var w in tracking) if (w.Target == null && !w.IsAlive) dead++;
        Console.WriteLine($"{dead >= 198} {alive.TryGetTarget(out var same) && same == kept}");

        var table = new ConditionalWeakTable<object, string>();
        table.Add(kept, "value");
        Deeply(20, () => { for (int i = 0; i < 100; i++) table.Add(new object(), "dead" + i); });
        Collect();
        int left = 0;
        foreach (var pair in table) left++;
        Console.WriteLine($"{table.TryGetValue(kept, out var text)} {text} {left <= 3}");
        var dependent = new DependentHandle(kept, new int[] { 5 });
        Collect();
        Console.WriteLine($"{dependent.Target == kept} {((int[])dependent.Dependent!)[0]}");
        dependent.Dependent = "other";
        Console.WriteLine(dependent.TargetAndDependent.Dependent);
        dependent.Target = null;
        Console.WriteLine($"{dependent.IsAllocated} {dependent.Target == null} {dependent.Dependent == null}");
        dependent.Dispose();
        Console.WriteLine(dependent.IsAllocated);

        var handle = GCHandle.Alloc(new byte[] { 1, 2, 3 }, GCHandleType.Pinned);
        IntPtr address = handle.AddrOfPinnedObject();
        Collect();
        Console.WriteLine($"{Marshal.ReadByte(address, 2)} {address == handle.AddrOfPinnedObject()} {((byte[])handle.Target!).Length}");
        handle.Free();
        Console.WriteLine(handle.IsAllocated);
        var normal = GCHandle.Alloc("text");
        Console.WriteLine($"{normal.Target} {GCHandle.FromIntPtr(GCHandle.ToIntPtr(normal)).Target}");
        normal.Target = 12;
        Console.WriteLine(normal.Target);
        normal.Free();
        try { Console.WriteLine(normal.Target); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        try { GCHandle.Alloc(new object[1], GCHandleType.Pinned); } catch (ArgumentException e) { Console.WriteLine(e.Message); }

        var pinned = new List<byte[]>();
        var addresses = new List<IntPtr>();
        for (int i = 0; i < 50; i++)
        {
            var array = GC.AllocateArray<byte>(10 + i * 100, pinned: true);
            array[^1] = (byte)i;
            pinned.Add(array);
            addresses.Add(Marshal.UnsafeAddrOfPinnedArrayElement(array, 0));
        }
        for (int i = 0; i < 200; i++) GC.KeepAlive(new byte[10000]);
        Collect();
        bool stays = true;
        for (int i = 0; i < 50; i++) stays &= addresses[i] == Marshal.UnsafeAddrOfPinnedArrayElement(pinned[i], 0) && pinned[i][^1] == i;
        Console.WriteLine(stays);
        Console.WriteLine(GC.AllocateUninitializedArray<int>(5000).Length);
        long allocated = GC.GetAllocatedBytesForCurrentThread();
        GC.KeepAlive(new byte[100000]);
        Console.WriteLine(GC.GetAllocatedBytesForCurrentThread() - allocated >= 100000);
        Console.WriteLine($"{GC.CollectionCount(0) >= GC.CollectionCount(2)} {GC.CollectionCount(2) > 0} {GC.GetTotalMemory(false) > 0} {GC.GetGeneration(kept) >= 0}");
        var info = GC.GetGCMemoryInfo();
        Console.WriteLine($"{info.HeapSizeBytes > 0} {info.TotalAvailableMemoryBytes > 0}");
        GC.AddMemoryPressure(1000);
        GC.RemoveMemoryPressure(1000);
        Console.WriteLine(GC.GetTotalPauseDuration() > TimeSpan.Zero);
    }
}
