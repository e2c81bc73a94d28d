// Checked operations with an operand whose value, sign or range is known, at the ends of the ranges: with constants on
// either side, masked numbers, elements of small types and comparisons, inside and outside of try blocks.
using System;
using System.Runtime.CompilerServices;

static class Program
{
    const int Least = int.MinValue, Greatest = int.MaxValue;

    static string Try<T> (Func<T> body)
    {
        try {
            return body ().ToString ();
        } catch (OverflowException) {
            return "overflow";
        }
    }

    [MethodImpl (MethodImplOptions.NoInlining)] static int Add1 (int x) { return checked (x + 1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddLeft (int x) { return checked (7 + x); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddMinus1 (int x) { return checked (x + -1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddLeast (int x) { return checked (x + Least); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int Sub1 (int x) { return checked (x - 1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int SubMinus1 (int x) { return checked (x - -1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int SubLeast (int x) { return checked (x - Least); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int SubFromLeast (int x) { return checked (Least - x); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int Mul1 (int x) { return checked (x * 1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int Mul3 (int x) { return checked (x * 3); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int MulLeft (int x) { return checked (65536 * x); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int MulMinus1 (int x) { return checked (x * -1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int MulGreatest (int x) { return checked (x * Greatest); }
    [MethodImpl (MethodImplOptions.NoInlining)] static uint UnsignedAdd (uint x, uint y) { return checked (x + y); }
    [MethodImpl (MethodImplOptions.NoInlining)] static uint UnsignedSub (uint x, uint y) { return checked (x - y); }
    [MethodImpl (MethodImplOptions.NoInlining)] static uint UnsignedMul (uint x) { return checked (x * 3); }
    [MethodImpl (MethodImplOptions.NoInlining)] static uint UnsignedMul1 (uint x) { return checked (x * 1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ulong LongUnsignedAdd (ulong x, ulong y) { return checked (x + y); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ulong LongUnsignedSub (ulong x, ulong y) { return checked (x - y); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ulong LongUnsignedMul (ulong x) { return checked (x * 10); }
    [MethodImpl (MethodImplOptions.NoInlining)] static long LongAdd (long x) { return checked (x + 10); }
    [MethodImpl (MethodImplOptions.NoInlining)] static long LongSub (long x) { return checked (x - 10); }
    [MethodImpl (MethodImplOptions.NoInlining)] static long LongMul (long x) { return checked (x * 10); }
    [MethodImpl (MethodImplOptions.NoInlining)] static long LongMul1 (long x) { return checked (x * 1); }
    [MethodImpl (MethodImplOptions.NoInlining)] static long LongMulGreatest (long x) { return checked (x * long.MaxValue); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddMasked (int x, int y) { return checked (x + (y & 15)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int SubMasked (int x, int y) { return checked (x - (y & 15)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int MaskedSum (int x, int y) { return checked ((x & 255) + (y & 15)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int GreatSum (int x) { return checked ((x & Greatest) + (x & Greatest)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddElement (int x, sbyte[] y) { return checked (x + y[0]); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddByte (int x, byte[] y) { return checked (y[0] + x); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int AddLength (int x, byte[] y) { return checked (x + y.Length); }
    [MethodImpl (MethodImplOptions.NoInlining)] static byte MaskedByte (long x) { return checked ((byte) (x & 127)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static byte WideMask (long x) { return checked ((byte) (x & 256)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static sbyte MaskedSigned (int x) { return checked ((sbyte) (x & 255)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ulong OfMasked (long x) { return checked ((ulong) (x & 0xffff)); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ulong OfNegative (sbyte[] x) { return checked ((ulong) x[0]); }
    [MethodImpl (MethodImplOptions.NoInlining)] static ushort OfElement (sbyte[] x) { return checked ((ushort) x[0]); }

    static int Protected (int x, int y)
    {
        int result = 0;
        try {
            checked {
                result = x + 1;
                result = result - 3;
                result = result * 5 + (y & 7);
                result = (int) (checked ((uint) result + 1u) - 2u);
            }
        } catch (OverflowException) {
            result = -result;
        }
        return result;
    }

    static void Main ()
    {
        int[] numbers = { Least, Least + 1, -715827883, -715827882, -32769, -32768, -8, -1, 0, 1, 7, 8, 32767, 32768, 715827882, 715827883, Greatest - 7, Greatest - 6, Greatest - 1, Greatest };
        foreach (int n in numbers) {
            int x = n;
            Console.WriteLine ("{0}: {1} {2} {3} {4} {5} {6} {7} {8}", x, Try (() => Add1 (x)), Try (() => AddLeft (x)), Try (() => AddMinus1 (x)), Try (() => AddLeast (x)),
                Try (() => Sub1 (x)), Try (() => SubMinus1 (x)), Try (() => SubLeast (x)), Try (() => SubFromLeast (x)));
            Console.WriteLine ("  {0} {1} {2} {3} {4}", Try (() => Mul1 (x)), Try (() => Mul3 (x)), Try (() => MulLeft (x)), Try (() => MulMinus1 (x)), Try (() => MulGreatest (x)));
            Console.WriteLine ("  {0} {1} {2} {3} {4}", Try (() => UnsignedAdd ((uint) x, 1)), Try (() => UnsignedAdd ((uint) x, 0x80000000)), Try (() => UnsignedSub ((uint) x, 8)),
                Try (() => UnsignedMul ((uint) x)), Try (() => UnsignedMul1 ((uint) x)));
            Console.WriteLine ("  {0} {1} {2} {3}", Try (() => AddMasked (x, -1)), Try (() => SubMasked (x, -1)), Try (() => MaskedSum (x, x)), Try (() => GreatSum (x)));
            Console.WriteLine ("  {0} {1} {2} {3}", Try (() => AddElement (x, new sbyte[] { -8 })), Try (() => AddElement (x, new sbyte[] { 8 })), Try (() => AddByte (x, new byte[] { 255 })), Try (() => AddLength (x, new byte[7])));
            Console.WriteLine ("  {0} {1} {2} {3}", Try (() => MaskedByte (x)), Try (() => WideMask (x)), Try (() => MaskedSigned (x)), Try (() => OfMasked (x)));
            Console.WriteLine ("  {0} {1}", Protected (x, 3), Protected (x, -1));
        }
        long[] longs = { long.MinValue, long.MinValue + 9, long.MinValue + 10, -922337203685477581, -922337203685477580, -1, 0, 1, 922337203685477580, 922337203685477581, long.MaxValue - 10, long.MaxValue - 9, long.MaxValue };
        foreach (long n in longs) {
            long x = n;
            Console.WriteLine ("{0}: {1} {2} {3} {4} {5}", x, Try (() => LongAdd (x)), Try (() => LongSub (x)), Try (() => LongMul (x)), Try (() => LongMul1 (x)), Try (() => LongMulGreatest (x)));
            Console.WriteLine ("  {0} {1} {2}", Try (() => LongUnsignedAdd ((ulong) x, 10)), Try (() => LongUnsignedSub ((ulong) x, 10)), Try (() => LongUnsignedMul ((ulong) x)));
        }
        Console.WriteLine ("{0} {1} {2} {3}", Try (() => OfNegative (new sbyte[] { -1 })), Try (() => OfNegative (new sbyte[] { 1 })), Try (() => OfElement (new sbyte[] { -1 })), Try (() => OfElement (new sbyte[] { 127 })));
    }
}
