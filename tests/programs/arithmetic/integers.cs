// Unchecked integer arithmetic wraps around; widths from 8 to 64 bits.
using System;

static class Program
{
    static int imax = int.MaxValue, imin = int.MinValue, i7 = 7, im7 = -7;
    static long lmax = long.MaxValue, lmin = long.MinValue;
    static uint umax = uint.MaxValue;
    static ulong ulmax = ulong.MaxValue;
    static byte b200 = 200;
    static sbyte sb100 = 100;
    static short s30000 = 30000;
    static ushort us60000 = 60000;

    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", imax + 1, imin - 1, imax * 2);
        Console.WriteLine("{0} {1} {2}", lmax + 1, lmin - 1, lmax * 3);
        Console.WriteLine("{0} {1} {2}", umax + 1, umax * umax, 0u - umax);
        Console.WriteLine("{0} {1}", ulmax + 2, ulmax * ulmax);
        Console.WriteLine("{0} {1} {2}", -imin, -lmin, ~imin);
        Console.WriteLine("{0} {1} {2} {3}", (byte)(b200 + 100), (sbyte)(sb100 + 100), (short)(s30000 * 2), (ushort)(us60000 * 2));

        Console.WriteLine("division {0} {1} {2} {3}", i7 / 2, im7 / 2, i7 / -2, im7 / -2);
        Console.WriteLine("remainder {0} {1} {2} {3}", i7 % 3, im7 % 3, i7 % -3, im7 % -3);
        Console.WriteLine("unsigned {0} {1}", umax / 10u, umax % 10u);
        Console.WriteLine("ulong {0} {1}", ulmax / 10ul, ulmax % 10ul);
        Console.WriteLine("by constants {0} {1} {2} {3}", imin / 2, imin / 16, imin % 16, im7 / 8);

        Console.WriteLine("logic {0:x} {1:x} {2:x}", imin & -2, 0x0f0f | 0xf0f0, 0xff00 ^ 0x0ff0);
        Console.WriteLine("compare {0} {1} {2} {3}", (imin < imax), (umax > 1u), ((int)umax < 1), (ulmax > (ulong)lmax));

        byte b = 255;
        b++;
        sbyte s = 127;
        s++;
        Console.WriteLine("increments {0} {1}", b, s);
        b -= 1;
        s -= 1;
        Console.WriteLine("decrements {0} {1}", b, s);

        long big = 0x0123456789abcdef;
        Console.WriteLine("{0:x} {1:x} {2:x}", (int)big, (short)big, (byte)big);
        Console.WriteLine("{0:x} {1:x}", (uint)(big >> 32), (ulong)big * 16);
        int negative = -1;
        Console.WriteLine("{0} {1} {2}", (long)negative, (ulong)negative, (long)(uint)negative);
        Console.WriteLine("{0} {1}", (char)65, (int)'z');

        int x = 5;
        int y = x++ + ++x * x--;
        Console.WriteLine("order of evaluation {0} {1}", x, y);
    }
}
