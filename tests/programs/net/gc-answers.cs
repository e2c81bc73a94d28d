// What the collector's interface answers: generations, counts, modes, arrays that are allocated pinned and hold references.
using System;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

static class Program
{
    struct Pair { public int Number; public string? Text; }

    static void Try(string name, Func<object?> work)
    {
        try { Console.WriteLine(name + ": " + work()); }
        catch (Exception e) { Console.WriteLine(name + ": " + e.GetType().Name); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object[] MakePinned()
    {
        var array = GC.AllocateArray<object>(1000, pinned: true);
        for (int i = 0; i < array.Length; i++) array[i] = new int[] { i };
        return array;
    }

    static long AddressOf(object[] array) => (long)Marshal.UnsafeAddrOfPinnedArrayElement(array, 0);

    static void Main()
    {
        Try("generation of null", () => GC.GetGeneration((object)null!));
        Try("generation of a new object", () => GC.GetGeneration(new object()));
        Try("generation of a large array", () => GC.GetGeneration(new byte[100000]));
        Try("count of no generation", () => GC.CollectionCount(7));
        Try("count of a negative one", () => GC.CollectionCount(-1));

        GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
        GC.Collect(0);
        Try("compaction after a small collection", () => GCSettings.LargeObjectHeapCompactionMode);
        GC.Collect();
        Try("compaction after a full one", () => GCSettings.LargeObjectHeapCompactionMode);

        var made = MakePinned();
        long address = AddressOf(made);
        for (int i = 0; i < 3; i++) GC.Collect();
        for (int i = 0; i < 2000; i++) GC.KeepAlive(new byte[5000]);
        GC.Collect(2, GCCollectionMode.Forced, true, true);
        int sum = 0;
        foreach (int[] one in made) sum += one[0];
        Console.WriteLine($"pinned: {sum} {address == AddressOf(made)}");
        // References that are stored later are found by collections of young objects.
        for (int i = 0; i < made.Length; i++) { made[i] = i.ToString(); if (i % 100 == 0) GC.Collect(0); }
        Console.WriteLine(string.Concat(made).Length);
        var pairs = GC.AllocateArray<Pair>(10, pinned: true);
        pairs[9] = new Pair { Number = 1, Text = new string('x', 3) };
        GC.Collect();
        Console.WriteLine(pairs[9].Text);
        Try("empty", () => GC.AllocateArray<byte>(0, pinned: true).Length);
        Try("negative", () => GC.AllocateArray<byte>(-1, pinned: true).Length);
        Try("uninitialized", () => GC.AllocateUninitializedArray<string>(3000, pinned: true)[2999] == null);
    }
}
