// Operations that the first tier once left to the second one.
using System;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static unsafe class All
{
    [StructLayout(LayoutKind.Sequential)]
    struct Division { public long Quotient, Remainder; }

    [StructLayout(LayoutKind.Sequential, Size = 3000)]
    struct Large { public int First; }

    [DllImport("libc")] static extern int abs(int number);
    [DllImport("libm.so.6")] static extern double fmod(double a, double b);
    [DllImport("libc")] static extern Division ldiv(long a, long b);

    static object shared = new object();
    static int counter, bits = 0xff;
    static object exchanged;
    static double exchangedNumber;

    static T Quiet<T>(Func<T> work) where T : struct
    {
        try { return work(); } catch (OverflowException) { return default(T); }
    }

    static int Filtered(int number)
    {
        int seen = number;
        try
        {
            if (number > 1) throw new InvalidOperationException();
            throw new ArgumentException("x");
        }
        catch (Exception error) when (Seen(ref seen) && error is InvalidOperationException) { return seen; }
        catch (ArgumentException) when (seen == number + 1) { return -seen; }
    }

    static bool Seen(ref int seen) { seen++; return true; }

    static int Local(int size)
    {
        byte* block = stackalloc byte[size];
        int sum = 0;
        for (int i = 0; i < size; i++) block[i] = (byte)i;
        for (int i = 0; i < size; i++) sum += block[i];
        for (int round = 0; round < 3; round++)
        {
            int* more = stackalloc int[4];
            more[round] = round;
            sum += more[round] + more[3];
        }
        return sum;
    }

    static int Sizes(Large large) { large.First++; return large.First; }

    static void Locks()
    {
        lock (shared) { lock (shared) counter++; }
        bool taken = false;
        Monitor.TryEnter(shared, 10, ref taken);
        if (taken) Monitor.Exit(shared);
        Interlocked.Increment(ref counter);
        Interlocked.Add(ref counter, 5);
        Interlocked.CompareExchange(ref counter, 100, 7);
        Interlocked.Exchange(ref exchanged, "x");
        Interlocked.CompareExchange(ref exchanged, "y", "z");
        Interlocked.Exchange(ref exchangedNumber, 2.5);
        Thread.MemoryBarrier();
        Console.WriteLine("{0} {1} {2} {3} {4}", counter, taken, exchanged, exchangedNumber, bits);
    }

    static void Conversions(double number, long wide, ulong unsigned)
    {
        Console.WriteLine("{0} {1} {2} {3}", (int)number, (uint)number, (long)number, (byte)number);
        Console.WriteLine("{0} {1} {2}", (double)unsigned, (float)unsigned, (ulong)number);
        Console.WriteLine("{0} {1}", Quiet(() => checked((byte)wide)), Quiet(() => checked((uint)number)));
        Console.WriteLine("{0} {1}", Quiet(() => checked(unsigned * 3)), Quiet(() => checked((sbyte)unsigned)));
        Console.WriteLine("{0} {1} {2}", Math.Floor(number), Math.Round(number), Math.Sqrt(number));
        Console.WriteLine("{0} {1} {2}", number % 1.5, Math.Abs(-number), BitConverter.DoubleToInt64Bits(number));
    }

    static Vector4 Mixed(Vector4 a, Vector4 b, Vector3 c) { return a * b + new Vector4(c, 1) / 2 - Vector4.Min(a, b); }

    static void Vectors()
    {
        var a = new Vector4(1, 2, 3, 4);
        Console.WriteLine(Mixed(a, a * 3, new Vector3(5, 6, 7)));
        var numbers = new Vector<int>(Enumerable.Range(1, Vector<int>.Count).ToArray());
        Console.WriteLine("{0} {1}", Vector.Dot(numbers, numbers), Vector.LessThan(numbers, new Vector<int>(3)));
        Console.WriteLine(Matrix4x4.CreateRotationX(1).GetDeterminant() > 0.9);
    }

    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", Filtered(1), Filtered(2), Local(40) + Local(400));
        Locks();
        Conversions(-3.75, 300, ulong.MaxValue - 5);
        Conversions(2.5, 30, 7);
        Vectors();
        var division = ldiv(17, 5);
        Console.WriteLine("{0} {1} {2} {3}", abs(-7), fmod(7.5, 2), division.Quotient, division.Remainder);
        Console.WriteLine(Sizes(new Large { First = 4 }));
    }
}
