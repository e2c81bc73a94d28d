// P/Invokes whose values need no conversion are called in line: arguments and results of every kind, errors of finding
// the function, errno, callbacks that collect or throw, aborts.
// mcs: -unsafe
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

struct Quotient
{
    public int Quot, Rem;
}

struct LongQuotient
{
    public long Quot, Rem;
}

struct Complex
{
    public double Real, Imaginary;
}

struct FloatComplex
{
    public float Real, Imaginary;
}

struct InternetAddress
{
    public uint Number;
}

struct Allocations
{
    public int Arena, OrdinaryBlocks, SmallBlocks, Mapped, MappedBytes, UsedSmall, FreeSmall, Used, Free, Keep;
}

enum Signal : int
{
    None = 0
}

static class Early
{
    static int calls;

    static Early()
    {
        calls = 100;
        Console.WriteLine("class constructor");
    }

    [DllImport("libc", EntryPoint = "abs")]
    public static extern int Abs(int value);

    public static int Count()
    {
        return ++calls;
    }
}

static unsafe class Program
{
    [DllImport("libc")] static extern int abs(int value);
    [DllImport("libc")] static extern long labs(long value);
    [DllImport("libm.so.6")] static extern double fabs(double value);
    [DllImport("libm.so.6")] static extern float fabsf(float value);
    [DllImport("libm.so.6")] static extern double ldexp(double value, int exponent);
    [DllImport("libm.so.6")] static extern double fma(double a, double b, double c);
    [DllImport("libc")] static extern Quotient div(int a, int b);
    [DllImport("libc")] static extern LongQuotient ldiv(long a, long b);
    [DllImport("libm.so.6")] static extern Complex csqrt(Complex value);
    [DllImport("libm.so.6")] static extern double cabs(Complex value);
    [DllImport("libm.so.6")] static extern FloatComplex conjf(FloatComplex value);
    [DllImport("libc")] static extern uint inet_netof(InternetAddress address);
    [DllImport("libc")] static extern Allocations mallinfo();
    [DllImport("libc")] static extern IntPtr memchr(byte* memory, int value, IntPtr bytes);
    [DllImport("libc")] static extern ushort htons(ushort value);
    [DllImport("libc", EntryPoint = "toupper")] static extern sbyte ToUpper(int value);
    [DllImport("libc")] static extern void srand(uint seed);
    [DllImport("libc")] static extern int kill(int process, Signal signal);
    [DllImport("libc")] static extern int getpid();
    [DllImport("libc", SetLastError = true)] static extern int close(int descriptor);
    [DllImport("libc", SetLastError = true)] static extern int dup2(int from, int to);
    [DllImport("libc", EntryPoint = "close")] static extern int CloseSilently(int descriptor);
    [DllImport("libc")] static extern int usleep(uint microseconds);
    [DllImport("libc")] static extern void qsort(int* elements, IntPtr count, IntPtr size, IntPtr compare);
    [DllImport("libc")] static extern IntPtr mmap(IntPtr at, IntPtr bytes, int protection, int flags, int file, IntPtr offset);
    [DllImport("libc")] static extern int munmap(IntPtr at, IntPtr bytes);
    [DllImport("libc")]
    static extern int snprintf(byte* text, IntPtr room, byte* format, long a, long b, long c, long d, long e, long f);
    [DllImport("libc")] static extern int this_function_does_not_exist(int value);
    [DllImport("this-library-does-not-exist")] static extern int getpgrp(int value);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Compare(int* a, int* b);

    static void Values()
    {
        Console.WriteLine("{0} {1} {2} {3}", abs(-5), labs(-5000000000), fabs(-1.5), fabsf(-2.5f));
        Console.WriteLine("{0} {1}", ldexp(0.75, 4), fma(2, 3, 4));
        Quotient quotient = div(17, 5);
        LongQuotient longQuotient = ldiv(-17000000000, 5);
        Console.WriteLine("{0} {1} {2} {3}", quotient.Quot, quotient.Rem, longQuotient.Quot, longQuotient.Rem);
        Complex root = csqrt(new Complex { Real = -4, Imaginary = 0 });
        Console.WriteLine("{0} {1} {2}", root.Real, root.Imaginary, cabs(new Complex { Real = 3, Imaginary = 4 }));
        FloatComplex conjugate = conjf(new FloatComplex { Real = 1.5f, Imaginary = 2.5f });
        Console.WriteLine("{0} {1}", conjugate.Real, conjugate.Imaginary);
        Console.WriteLine(inet_netof(new InternetAddress { Number = 0x0100007f }));
        Allocations allocations = mallinfo();
        Console.WriteLine(allocations.Used + allocations.Free == allocations.Arena);
        byte* bytes = stackalloc byte[4];
        bytes[2] = 9;
        Console.WriteLine("{0} {1}", (byte*)memchr(bytes, 9, (IntPtr)4) - bytes, memchr(bytes, 8, (IntPtr)4));
        Console.WriteLine("{0} {1}", htons(0x1234).ToString("x"), ToUpper('a'));
        srand(7);
        Console.WriteLine("{0} {1}", kill(getpid(), Signal.None), CloseSilently(-1));
        IntPtr page = mmap(IntPtr.Zero, (IntPtr)4096, 3, 0x22, -1, IntPtr.Zero);
        *(int*)page = 77;
        Console.WriteLine("{0} {1}", *(int*)page, munmap(page, (IntPtr)4096));
        byte* text = stackalloc byte[64];
        byte* format = stackalloc byte[32];
        string pattern = "%ld %ld %ld %ld %ld %ld";
        for (int i = 0; i < pattern.Length; i++)
            format[i] = (byte)pattern[i];
        int length = snprintf(text, (IntPtr)64, format, 1, -2, 3, -4, 5, -6);
        Console.WriteLine("{0}: {1}", length, Marshal.PtrToStringAnsi((IntPtr)text));
    }

    static void Errors()
    {
        Console.WriteLine("{0} {1}", close(-1), Marshal.GetLastWin32Error());
        Console.WriteLine("{0} {1}", dup2(0, -1), Marshal.GetLastWin32Error());
        CloseSilently(-1);
        Console.WriteLine("{0} {1}", dup2(0, 0), Marshal.GetLastWin32Error() >= 0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Missing(int round)
    {
        // Compiled whole before the first call, which is reached in the last round only.
        if (round < 3)
            return abs(-round);
        return round == 3 ? this_function_does_not_exist(round) : getpgrp(round);
    }

    static void NotFound()
    {
        for (int round = 0; round < 6; round++)
        {
            try
            {
                Console.WriteLine(Missing(round));
            }
            catch (TypeLoadException e)
            {
                Console.WriteLine("{0} in round {1}", e.GetType().Name, round);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int[] Numbers(int count)
    {
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++)
            numbers[i] = i * 37 % count;
        return numbers;
    }

    static bool IsSorted(int[] numbers)
    {
        for (int i = 1; i < numbers.Length; i++)
            if (numbers[i - 1] > numbers[i])
                return false;
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Sort(Compare compare)
    {
        IntPtr code = Marshal.GetFunctionPointerForDelegate(compare);
        int[] numbers = Numbers(100);
        // Held by nothing but variables of this frame while native code runs.
        object[] kept = new object[8];
        for (int i = 0; i < kept.Length; i++)
            kept[i] = new string((char)('a' + i), 3);
        object a = kept[0], b = kept[1], c = kept[2], d = kept[3], e = kept[4], f = kept[5], g = kept[6], h = kept[7];
        kept = null;
        string result = "returned";
        try
        {
            fixed (int* first = numbers)
                qsort(first, (IntPtr)numbers.Length, (IntPtr)4, code);
        }
        catch (InvalidOperationException exception)
        {
            result = exception.Message;
        }
        finally
        {
            result += " finally";
        }
        GC.KeepAlive(compare);
        return result + " " + (IsSorted(numbers) ? "sorted" : "not sorted") + " " + a + b + c + d + e + f + g + h;
    }

    static int collections;

    static int CompareAndCollect(int* a, int* b)
    {
        if (++collections % 50 == 0)
            GC.Collect();
        string garbage = new string('x', 100);
        return garbage.Length == 100 ? *a - *b : 0;
    }

    static int CompareAndCall(int* a, int* b)
    {
        return abs(-*a) - abs(-*b);
    }

    static int CompareAndThrow(int* a, int* b)
    {
        throw new InvalidOperationException("thrown in a callback of " + (abs(-3) + 97) + " elements");
    }

    static void Callbacks()
    {
        for (int round = 0; round < 3; round++)
        {
            Console.WriteLine(Sort(CompareAndCollect));
            Console.WriteLine(Sort(CompareAndCall));
#if !NET
            Console.WriteLine(Sort(CompareAndThrow));
#endif
        }
    }

    static void Aborts()
    {
#if NET
        Console.WriteLine("aborted: {0} {1}", true, true);
#else
        bool isInside = false, hasEnded = false, ranOn = false;
        Thread thread = new Thread(() =>
        {
            try
            {
                try
                {
                }
                finally
                {
                    Volatile.Write(ref isInside, true);
                    for (int i = 0; i < 20; i++)
                        usleep(5000);
                    hasEnded = true;
                }
                for (;;)
                    usleep(1000);
            }
            catch (ThreadAbortException)
            {
                Thread.ResetAbort();
            }
            ranOn = true;
        });
        thread.Start();
        while (!Volatile.Read(ref isInside))
            Thread.Yield();
        thread.Abort();
        thread.Join();
        Console.WriteLine("aborted: {0} {1}", hasEnded, ranOn);
#endif
    }

    static void Threads()
    {
        // Some sleep in native code while others call it, allocate and collect.
        Thread[] threads = new Thread[12];
        long[] sums = new long[threads.Length];
        for (int number = 0; number < threads.Length; number++)
        {
            int own = number;
            threads[own] = new Thread(() =>
            {
                object[] ring = new object[16];
                for (int i = 0; i < 2000; i++)
                {
                    object before = ring[i % 16];
                    string text = new string('y', 1 + i % 7);
                    int five = abs(-5);
                    ring[i % 16] = text;
                    sums[own] += text.Length + five + (before == null ? 0 : ((string)before).Length);
                    if (own % 3 == 0 && i % 100 == 0)
                        usleep(2000);
                    if (own == 1 && i % 500 == 0)
                        GC.Collect();
                }
            });
        }
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        bool areEqual = true;
        foreach (long sum in sums)
            areEqual &= sum == sums[0];
        Console.WriteLine("threads: {0} {1}", sums[0], areEqual);
    }

    static void Main()
    {
        Values();
        Errors();
        NotFound();
        Console.WriteLine("before");
        Console.WriteLine("{0} {1}", Early.Abs(-8), Early.Count());
        Callbacks();
        Aborts();
        Threads();
    }
}
