// What System.GC tells: counts, generations, memory, allocated bytes, pressure, KeepAlive.
using System;
using System.Runtime.CompilerServices;

class Watched
{
    public static bool Gone;
    ~Watched() { Gone = true; }
}

static class Program
{
    static object sink;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
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
    static bool AliveUntilKeepAlive()
    {
        var watched = new Watched();
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        bool alive = !Watched.Gone;
        GC.KeepAlive(watched);
        return alive;
    }

    static void Main()
    {
        int young = GC.CollectionCount(0), full = GC.CollectionCount(GC.MaxGeneration);
        GC.Collect();
        Console.WriteLine("counts {0} {1}", GC.CollectionCount(0) >= young, GC.CollectionCount(GC.MaxGeneration) > full);
        young = GC.CollectionCount(0);
        GC.Collect(0);
        Console.WriteLine("young {0} {1}", GC.CollectionCount(0) > young, GC.MaxGeneration >= 1);

        var survivor = new object();
        GC.Collect();
        Console.WriteLine("generation {0}", GC.GetGeneration(survivor) <= GC.MaxGeneration);
        Console.WriteLine("weak {0}", GC.GetGeneration(new WeakReference(survivor)) <= GC.MaxGeneration);

        long before = GC.GetTotalMemory(true);
        var block = new byte[32 << 20];
        long with = GC.GetTotalMemory(true);
        Console.WriteLine("total {0}", with - before >= block.Length && with - before < 2 * block.Length);
        block = null;
        Clear(100);
        Console.WriteLine("less {0}", GC.GetTotalMemory(true) <= with);

        long allocated = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 100000; i++)
            sink = new object();
        long after = GC.GetAllocatedBytesForCurrentThread();
        Console.WriteLine("allocated {0}", after - allocated >= 100000 * 16 && after - allocated < 100000 * 64);

        young = GC.CollectionCount(0);
        for (int i = 0; i < 200; i++)
        {
            GC.AddMemoryPressure(100 << 20);
            sink = new byte[1 << 16];
        }
        GC.RemoveMemoryPressure(200L * (100 << 20));
        Console.WriteLine("pressure {0}", GC.CollectionCount(0) >= young);
        Throws("no pressure", () => GC.AddMemoryPressure(0));
        Throws("negative generation", () => GC.Collect(-1));
        Throws("null", () => GC.SuppressFinalize(null));
        Console.WriteLine("kept {0}", AliveUntilKeepAlive());
    }
}
