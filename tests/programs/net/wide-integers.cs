// Int128 and UInt128: arithmetic, text, and their layout, which aligns them to 16 bytes in structures.
using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

struct AfterByte { public byte First; public Int128 Wide; public byte Last; }
struct Nested { public int First; public AfterByte Inner; }
[StructLayout(LayoutKind.Sequential, Pack = 4)] struct Packed { public byte First; public UInt128 Wide; }
[StructLayout(LayoutKind.Explicit)] struct Overlaid { [FieldOffset(0)] public Int128 Wide; [FieldOffset(0)] public ulong Low; [FieldOffset(8)] public ulong High; }
class Holder { public byte First; public Int128 Wide = -1; }
struct Generic<T> { public byte First; public T Value; }

static class Program
{
    static long OffsetIn<T, F>(ref T whole, ref F field) => Unsafe.ByteOffset(ref Unsafe.As<T, byte>(ref whole), ref Unsafe.As<F, byte>(ref field)).ToInt64();

    static Int128 Sum(Int128 a, int b, Int128 c, UInt128 d) => a + b + c + (Int128)d;

    static T Power<T>(T value, int exponent) where T : INumber<T>
    {
        T result = T.One;
        for (int i = 0; i < exponent; i++)
            result = checked(result * value);
        return result;
    }

    static void Try(string words, Func<object> compute)
    {
        try { Console.WriteLine(words + ": " + compute()); }
        catch (Exception e) { Console.WriteLine(words + ": " + e.GetType().Name); }
    }

    static void Main()
    {
        Console.WriteLine($"{Unsafe.SizeOf<Int128>()} {Unsafe.SizeOf<AfterByte>()} {Unsafe.SizeOf<Nested>()} {Unsafe.SizeOf<Packed>()} {Unsafe.SizeOf<Overlaid>()} {Unsafe.SizeOf<Generic<UInt128>>()} {Unsafe.SizeOf<Generic<Int128?>>()}");
        AfterByte a = default; Nested n = default; Packed p = default;
        Console.WriteLine($"{OffsetIn(ref a, ref a.Wide)} {OffsetIn(ref a, ref a.Last)} {OffsetIn(ref n, ref n.Inner)} {OffsetIn(ref p, ref p.Wide)}");
        Overlaid o = default;
        o.Wide = ((Int128)7 << 64) + 5;
        Console.WriteLine($"{o.Low} {o.High}");
        Console.WriteLine(new Holder().Wide);
        var array = new Int128[3];
        array[1] = Int128.MaxValue;
        Console.WriteLine($"{array[0]} {array[1]} {array[2]} {OffsetIn(ref array[0], ref array[2])}");

        Console.WriteLine(Sum(Int128.MinValue, 1, 2, 3));
        Console.WriteLine($"{Int128.MaxValue / 12345678901234567} {Int128.MaxValue % 1000000007} {UInt128.MaxValue >> 65} {-(Int128)1 >>> 100} {(Int128)(-5) >> 1}");
        Console.WriteLine($"{Power<Int128>(3, 80)} {Power<UInt128>(2, 127)}");
        Try("overflow", () => Power<Int128>(3, 81));
        Try("divided by zero", () => (Int128)1 / 0);
        Console.WriteLine($"{(double)Int128.MaxValue} {(decimal)(Int128)1e20} {(Int128)1e30} {(long)((Int128)1 << 64)} {BigInteger.Parse("170141183460469231731687303715884105727") == (BigInteger)Int128.MaxValue}");
        Try("conversion", () => checked((long)((Int128)1 << 64)));
        Console.WriteLine($"{Int128.Parse("-170141183460469231731687303715884105728")} {UInt128.MaxValue:x} {Int128.LeadingZeroCount(1)} {UInt128.PopCount(UInt128.MaxValue)}");
        Console.WriteLine($"{((Int128)1).CompareTo(2)} {((Int128)1 << 100).GetHashCode() == ((Int128)1 << 100).GetHashCode()} {Int128.Max(-1, 1)} {(object)(Int128)4 is Int128}");
        Try("marshalled size", () => Marshal.SizeOf<Int128>());
    }
}
