// Methods with UnmanagedCallersOnlyAttribute: ldftn gives the address of a native function, which calli and native code call, on threads of either side.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
    [DllImport ("libc")] static extern void qsort (int[] numbers, IntPtr count, IntPtr size, IntPtr compare);
    [DllImport ("libpthread.so.0")] static extern int pthread_create (out IntPtr thread, IntPtr attributes, IntPtr function, IntPtr argument);
    [DllImport ("libpthread.so.0")] static extern int pthread_join (IntPtr thread, out IntPtr result);

    delegate int Binary (int a, int b);

    static void Main ()
    {
        Console.WriteLine (Exported.CallAdd (Exported.AddressOfAdd (), 40, 2));
        Console.WriteLine (Exported.CallNarrow (Exported.AddressOfNarrow (), 0x7f01, -1, 0x1ffff, -2));
        Console.WriteLine (Exported.CallMany ());
        var pair = Exported.CallTwice (Exported.AddressOfTwice (), new Pair { number = 21, real = 1.25 });
        Console.WriteLine ("{0} {1}", pair.number, pair.real);
        var large = Exported.CallGrow (new Large { a = 1, b = 2, c = 3 }, 1L << 40);
        Console.WriteLine ("{0} {1} {2}", large.a, large.b, large.c);
        Console.WriteLine (Exported.CallOne (Exported.AddressOfFibonacci (), 15));

        // One address for each method, also by reflection.
        Console.WriteLine (Exported.AddressOfAdd () == Exported.AddressOfAdd ());
        var handle = typeof (Exported).GetMethod ("Add").MethodHandle;
        Console.WriteLine (Exported.CallAdd (handle.GetFunctionPointer (), 1, 2));
        Console.WriteLine (handle.GetFunctionPointer () == Exported.AddressOfAdd ());

        var numbers = new int[2000];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = (i * 7919) % numbers.Length;
        qsort (numbers, (IntPtr) numbers.Length, (IntPtr) 4, Exported.AddressOfCompare ());
        bool isSorted = true;
        for (int i = 0; i < numbers.Length; i++)
            isSorted &= numbers[i] == i;
        Console.WriteLine ("{0} {1}", isSorted, Exported.count > 2000);

        // The address is a native function like any other.
        var add = (Binary) Marshal.GetDelegateForFunctionPointer (Exported.AddressOfAdd (), typeof (Binary));
        Console.WriteLine (add (100, 11));

        // Threads that the machine does not know.
        int mine = Thread.CurrentThread.ManagedThreadId;
        int other = 0;
        bool isBackground = false;
        Func<int, int> work = n => {
            var garbage = new object[100];
            for (int i = 0; i < garbage.Length; i++)
                garbage[i] = new byte[1000];
            GC.Collect ();
            other = Thread.CurrentThread.ManagedThreadId;
            isBackground = Thread.CurrentThread.IsBackground;
            return n * Exported.CallOne (Exported.AddressOfFibonacci (), 10) + garbage.Length;
        };
        var target = GCHandle.Alloc (work);
        for (int i = 0; i < 3; i++) {
            IntPtr thread, result;
            pthread_create (out thread, IntPtr.Zero, Exported.AddressOfThread (), GCHandle.ToIntPtr (target));
            pthread_join (thread, out result);
            Console.WriteLine ("{0} {1} {2}", result, other != mine, isBackground);
        }
        target.Free ();

        // Several managed threads, with collections between.
        var threads = new Thread[4];
        var sums = new int[threads.Length];
        for (int i = 0; i < threads.Length; i++) {
            int number = i;
            threads[i] = new Thread (() => {
                for (int j = 0; j < 20; j++) {
                    sums[number] += Exported.CallOne (Exported.AddressOfFibonacci (), 8 + number);
                    if (j % 5 == 0)
                        GC.Collect ();
                }
            });
            threads[i].Start ();
        }
        foreach (var thread in threads)
            thread.Join ();
        Console.WriteLine (string.Join (" ", sums));
    }
}
