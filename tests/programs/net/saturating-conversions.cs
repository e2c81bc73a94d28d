// A floating-point number that the integer cannot hold becomes the nearest one, and NaN 0; integers smaller than int are cut out of one.
using System;

static class Conversions
{
    static readonly double[] numbers =
    {
        0, -0.0, double.NaN, 1e10, -1e10, 1e20, -1e20, -1.5, 1.5, 127.9, 128, -129, 255.9, 256, 32768, -32769, 65535.5, 70000.5, -70000.5, 2147483647.5, 2147483648, -2147483648.5,
        3e9, 4294967295.9, 4294967296, 9.3e18, -9.3e18, 1.8e19, 1.9e19, 1e300, double.PositiveInfinity, double.NegativeInfinity, double.Epsilon,
    };

    static void Main()
    {
        foreach (double d in numbers)
        {
            float f = (float)d;
            unchecked
            {
                Console.WriteLine($"{d}: {(sbyte)d} {(byte)d} {(short)d} {(ushort)d} {(char)d + 0} {(int)d} {(uint)d} {(long)d} {(ulong)d} {(nint)d} {(nuint)d}");
                Console.WriteLine($"{f}: {(sbyte)f} {(byte)f} {(short)f} {(ushort)f} {(char)f + 0} {(int)f} {(uint)f} {(long)f} {(ulong)f} {(nint)f} {(nuint)f}");
            }
            Func<double, object>[] all = [x => checked((sbyte)x), x => checked((byte)x), x => checked((short)x), x => checked((ushort)x), x => checked((int)x), x => checked((uint)x), x => checked((long)x), x => checked((ulong)x)];
            string line = "checked:";
            foreach (Func<double, object> one in all)
            {
                try { line += " " + one(d); }
                catch (OverflowException) { line += " -"; }
            }
            Console.WriteLine(line);
            line = "generic:";
            line += " " + Truncating<sbyte>(d) + " " + Truncating<ushort>(d) + " " + Truncating<int>(d) + " " + Truncating<ulong>(d) + " " + int.CreateSaturating(d) + " " + uint.CreateSaturating(f) + " " + double.ConvertToInteger<long>(d) + " " + double.ConvertToIntegerNative<int>(1.5);
            Console.WriteLine(line);
        }
    }

    static T Truncating<T>(double d) where T : System.Numerics.INumberBase<T> => T.CreateTruncating(d);
}
