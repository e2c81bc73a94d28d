// Calls of C functions. Prints "name nanoseconds" a line: the time of one call, best of seven rounds.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

static class PInvoke
{
    const int Rounds = 7;
    const int Calls = 2000000;

    [DllImport("libc", EntryPoint = "abs")]
    static extern int Abs(int value);

    [DllImport("libc", EntryPoint = "labs")]
    static extern long LongAbs(long value);

    [DllImport("libm.so.6", EntryPoint = "fabs")]
    static extern double DoubleAbs(double value);

    [DllImport("libc", EntryPoint = "abs", SetLastError = true)]
    static extern int AbsWithError(int value);

    [DllImport("libc", EntryPoint = "memcmp")]
    static extern int CompareArrays(byte[] left, byte[] right, IntPtr bytes);

    [DllImport("libc", EntryPoint = "atol")]
    static extern IntPtr TextToNumber(string text);

    [DllImport("libm.so.6", EntryPoint = "frexp")]
    static extern double Split(double value, out int exponent);

    static void Measure(string name, Func<int, long> body)
    {
        body(100);
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            body(Calls);
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Calls);
        }
        Console.WriteLine("{0} {1:F2}", name, best);
    }

    static long Integers(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += Abs(-i);
        return sum;
    }

    static long Longs(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += LongAbs(-i);
        return sum;
    }

    static long Doubles(int count)
    {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += DoubleAbs(-i);
        return (long)sum;
    }

    static long Errors(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += AbsWithError(-i);
        return sum;
    }

    static long Arrays(int count)
    {
        byte[] left = { 1, 2, 3, 4 }, right = { 1, 2, 3, 5 };
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += CompareArrays(left, right, (IntPtr)4);
        return sum;
    }

    static long Texts(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += (long)TextToNumber("12");
        return sum;
    }

    static long Places(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            int exponent;
            Split(i, out exponent);
            sum += exponent;
        }
        return sum;
    }

    static void Main()
    {
        Measure("int", Integers);
        Measure("long", Longs);
        Measure("double", Doubles);
        Measure("last-error", Errors);
        Measure("array", Arrays);
        Measure("out", Places);
        Measure("string", Texts);
    }
}
