// Long chains of operations on Vector256 and Vector512 in loops, which are compiled into each other, beside the same in single elements.
using System;
using System.Linq;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

static unsafe class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Upper(byte* from, byte* to, int n)
    {
        var a = Vector256.Create((byte)'a');
        var count = Vector256.Create((byte)26);
        var bit = Vector256.Create((byte)32);
        for (int i = 0; i + 32 <= n; i += 32)
        {
            var v = Vector256.Load(from + i);
            (v ^ (Vector256.LessThan(v - a, count) & bit)).Store(to + i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Clamp(int* from, int* to, int n)
    {
        var least = Vector256.Create(-3);
        var most = Vector256.Create(5);
        for (int i = 0; i + 8 <= n; i += 8)
        {
            var v = Vector256.Load(from + i);
            v = Vector256.ConditionalSelect(Vector256.LessThan(v, least), least, v);
            v = Vector256.Min(v, most) * Vector256.Create(7) - (v >> 1);
            Vector256.AndNot(v, Vector256.Equals(v, most)).Store(to + i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Poly(double* from, int n)
    {
        var sum = Vector256<double>.Zero;
        for (int i = 0; i + 4 <= n; i += 4)
        {
            var x = Vector256.Load(from + i);
            sum += ((x * Vector256.Create(0.5) + Vector256.Create(-1.5)) * x - Vector256.Abs(x)) / (x * x + Vector256<double>.One);
        }
        return ((sum[0] + sum[1]) + sum[2]) + sum[3];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Bits(short* from, int n)
    {
        ulong all = 0;
        for (int i = 0; i + 32 <= n; i += 32)
        {
            var v = Vector512.Load(from + i);
            all = BitOperations.RotateLeft(all, 7) ^ (Vector512.GreaterThan(v, Vector512.Create((short)100)) | Vector512.LessThan(v, Vector512.Create((short)-200))).ExtractMostSignificantBits();
        }
        return all;
    }

    static void Main()
    {
        var random = new Random(5);
        var bytes = new byte[1024];
        random.NextBytes(bytes);
        var ints = Enumerable.Range(0, 256).Select(_ => random.Next(-20, 20)).ToArray();
        var doubles = Enumerable.Range(0, 256).Select(i => i - 100.25).ToArray();
        var shorts = Enumerable.Range(0, 512).Select(_ => (short)random.Next(-1000, 1000)).ToArray();
        var upper = new byte[1024];
        var clamped = new int[256];
        double poly = 0;
        ulong bits = 0;
        fixed (byte* b = bytes, u = upper)
        fixed (int* i = ints, c = clamped)
        fixed (double* d = doubles)
        fixed (short* s = shorts)
            for (int round = 0; round < 3000; round++)
            {
                Upper(b, u, 1024);
                Clamp(i, c, 256);
                poly = Poly(d, 256);
                bits = Bits(s, 512);
            }
        Console.WriteLine(upper.Select((one, at) => one == (bytes[at] >= 'a' && bytes[at] <= 'z' ? bytes[at] ^ 32 : bytes[at])).All(x => x));
        Console.WriteLine(clamped.Select((one, at) =>
        {
            int v = Math.Max(ints[at], -3);
            int w = Math.Min(v, 5) * 7 - (v >> 1);
            return one == (w == 5 ? 0 : w);
        }).All(x => x));
        var sums = new double[4];
        for (int at = 0; at < 256; at++)
        {
            double x = doubles[at];
            sums[at % 4] += ((x * 0.5 + -1.5) * x - Math.Abs(x)) / (x * x + 1);
        }
        Console.WriteLine(BitConverter.DoubleToInt64Bits(poly) == BitConverter.DoubleToInt64Bits(((sums[0] + sums[1]) + sums[2]) + sums[3]));
        ulong expected = 0;
        for (int at = 0; at < 512; at += 32)
        {
            ulong mask = 0;
            for (int k = 0; k < 32; k++) if (shorts[at + k] > 100 || shorts[at + k] < -200) mask |= 1ul << k;
            expected = BitOperations.RotateLeft(expected, 7) ^ mask;
        }
        Console.WriteLine(bits == expected);
    }
}
