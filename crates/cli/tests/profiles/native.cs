// Time spent in native code of several sorts, below managed methods whose names say which.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

unsafe struct Big { public fixed long Words[1024]; }

static unsafe class Native
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;

    delegate int Order(int* a, int* b);

    [DllImport("libc", EntryPoint = "qsort")]
    static extern void Sort(int* first, IntPtr count, IntPtr size, Order order);

    [MethodImpl(Apart)]
    static int Compare(int* a, int* b)
    {
        double x = *a;
        for (int i = 0; i < 200; i++) x = x * 1.0000001 + 0.1;
        return x > 0 && *a < *b ? -1 : *a > *b ? 1 : 0;
    }

    // Managed code that native code calls back.
    [MethodImpl(Apart)]
    static void CalledBack()
    {
        var numbers = new int[2000];
        for (int i = 0; i < numbers.Length; i++) numbers[i] = i * 7919 % 5003;
        Order order = Compare;
        fixed (int* first = numbers) Sort(first, (IntPtr)numbers.Length, (IntPtr)4, order);
        GC.KeepAlive(order);
    }

    // Calls the C library directly, without a frame of exit.
    [MethodImpl(Apart)]
    static long CopiesStructs(Big* all)
    {
        long sum = 0;
        for (int i = 0; i < 20000; i++)
        {
            Big copy = all[i & 7];
            copy.Words[i & 63]++;
            all[i + 1 & 7] = copy;
            sum += copy.Words[3];
        }
        return sum;
    }

    // The slow path of allocation.
    [MethodImpl(Apart)]
    static object AllocatesLarge()
    {
        object last = null;
        for (int i = 0; i < 300; i++) last = new byte[100000];
        return last;
    }

    [MethodImpl(Apart)]
    static int Throws()
    {
        int caught = 0;
        for (int i = 0; i < 3000; i++)
            try { throw new InvalidOperationException(); }
            catch (InvalidOperationException) { caught++; }
        return caught;
    }

    static void Main()
    {
        var all = new Big[8];
        var watch = System.Diagnostics.Stopwatch.StartNew();
        fixed (Big* first = all)
        {
            while (watch.ElapsedMilliseconds < 3000)
            {
                CalledBack();
                CopiesStructs(first);
                AllocatesLarge();
                Throws();
            }
        }
        Console.WriteLine("ok");
    }
}
