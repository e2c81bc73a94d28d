// Unchecked conversions of floats that do not fit give the nearest integer, and 0 for NaN.
using System;
using System.Runtime.CompilerServices;

static class Test
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Show(double value)
    {
        unchecked
        {
            Console.WriteLine($"{(int)value} {(uint)value} {(long)value} {(ulong)value} {(nint)value} {(nuint)value} {(short)value} {(ushort)value} {(sbyte)value} {(byte)value}");
            float single = (float)value;
            Console.WriteLine($"{(int)single} {(uint)single} {(long)single} {(ulong)single} {(short)single} {(byte)single}");
        }
    }

    static void Main()
    {
        foreach (double value in new[] { 0, 1.9, -1.9, 300, -300, 70000, 3e9, -3e9, 5e9, 1e19, -1e19, 1e30, -1e30, double.NaN, double.PositiveInfinity, double.NegativeInfinity })
            Show(value);
        double large = 3e9;
        try { Console.WriteLine(checked((int)large)); } catch (OverflowException) { Console.WriteLine("overflow"); }
    }
}
