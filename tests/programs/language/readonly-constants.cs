// `static readonly` numbers of every type, read by code that is compiled before and after their class is initialised,
// and by hot code.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Runtime.CompilerServices;

enum Small : byte { Low = 1, High = 200 }
enum Wide : long { Far = long.MinValue }

class Values
{
    public static readonly bool Yes = Compute (1) == 1;
    public static readonly sbyte SByte = (sbyte) Compute (-128);
    public static readonly byte Byte = (byte) Compute (255);
    public static readonly short Short = (short) Compute (-32768);
    public static readonly ushort UShort = (ushort) Compute (65535);
    public static readonly char Char = (char) Compute (0xfffe);
    public static readonly int Int = (int) Compute (int.MinValue);
    public static readonly uint UInt = (uint) Compute (uint.MaxValue);
    public static readonly long Long = Compute (long.MinValue);
    public static readonly ulong ULong = unchecked ((ulong) Compute (-1));
    public static readonly float Single = Compute (0) / -1.0f;
    public static readonly double NotANumber = Compute (0) / (double) Compute (0);
    public static readonly double Third = Compute (1) / 3.0;
    public static readonly Small Enum = (Small) Compute (200);
    public static readonly Wide WideEnum = (Wide) Compute (long.MinValue);
    public static readonly IntPtr Pointer = (IntPtr) Compute (77);
    public static readonly decimal Decimal = Compute (5) / 2m;
    public static readonly string Text = "text" + Compute (3);

    [MethodImpl (MethodImplOptions.NoInlining)]
    static long Compute (long value) { return value; }
}

class Numbered<T>
{
    public static readonly int Number = ++Counter.Value;
}

static class Counter { public static int Value; }

class Late
{
    public static readonly int Before;
    public static readonly int After;
    public static int Seen;

    static Late ()
    {
        Seen = Sum ();
        Before = 10;
        After = 20;
        Seen += Sum ();
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    public static int Sum () { return Before + After; }
}

static class Program
{
    [MethodImpl (MethodImplOptions.NoInlining)]
    static string All ()
    {
        return string.Join (" ", new object [] {
            Values.Yes, Values.SByte, Values.Byte, Values.Short, Values.UShort, (int) Values.Char, Values.Int, Values.UInt,
            Values.Long, Values.ULong, 1 / Values.Single, double.IsNaN (Values.NotANumber), (long) (Values.Third * 1e9),
            Values.Enum, (int) Values.Enum, Values.WideEnum, (long) Values.Pointer, Values.Decimal == 2.5m, Values.Text });
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Numbers ()
    {
        return Numbered<int>.Number * 100 + Numbered<string>.Number * 10 + Numbered<object>.Number;
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Branches (int x)
    {
        int result = 0;
        if (Values.Yes)
            result += x;
        if (Values.Enum == Small.High)
            result += Values.Byte;
        checked {
            result += Values.SByte;
        }
        return result / (Values.Short / Values.SByte);
    }

    static void Main ()
    {
        string first = All ();
        Console.WriteLine (first);
        int numbers = Numbers (), branches = 0;
        for (int i = 0; i < 5000; i++) {
            branches += Branches (i * 256);
            if (Numbers () != numbers)
                Console.WriteLine ("another number");
        }
        Console.WriteLine (numbers + " " + branches);
        for (int i = 0; i < 3000; i++)
            if (All () != first)
                Console.WriteLine ("other values");
        for (int i = 0; i < 5000; i++)
            if (Late.Sum () != 30)
                Console.WriteLine ("too early");
        Console.WriteLine (Late.Seen + " " + Late.Sum ());
    }
}
