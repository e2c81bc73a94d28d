// Dead objects that wait for their finalizers do not make an allocation fail: it waits until their memory is free.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Finalizable
{
    public static int Finalized;
    public readonly byte[] Data = new byte[1 << 16];

    ~Finalizable()
    {
        // A finalizer that is slower than the loop that makes the objects.
        Thread.Sleep(0);
        Interlocked.Increment(ref Finalized);
    }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill()
    {
        var all = new Finalizable[700];
        for (int i = 0; i < all.Length; i++)
            all[i] = new Finalizable();
    }

    static void Main()
    {
        int made = 0;
        for (; made < 20000; made++)
            new Finalizable();
        Console.WriteLine(made);

        // All die at once; the next allocation needs more than what is left.
        Fill();
        var large = new byte[40 << 20];
        Console.WriteLine(large.Length >> 20);
        Console.WriteLine(Finalizable.Finalized > 10000);
    }
}
