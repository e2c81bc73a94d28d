// Shift counts are taken modulo the width (C# masks them); right shifts keep the sign of signed types.
using System;

static class Program
{
    static void Main()
    {
        int one = 1, minus = -1, min = int.MinValue;
        long lone = 1, lmin = long.MinValue;
        uint u = 0x80000001;
        ulong ul = 0x8000000000000001;
        foreach (int count in new[] { 0, 1, 31, 32, 33, 63, 64, 65, -1 })
        {
            Console.WriteLine("{0,3}: {1:x8} {2:x8} {3:x8} {4:x8}", count, one << count, min >> count, minus >> count, u >> count);
            Console.WriteLine("     {0:x16} {1:x16} {2:x16}", lone << count, lmin >> count, ul >> count);
        }
        byte b = 0x81;
        sbyte s = -127;
        Console.WriteLine("{0:x} {1:x} {2} {3}", b << 4, b >> 4, s << 1, s >> 1);
        int x = 1;
        x <<= 4;
        x |= 3;
        x >>= 1;
        Console.WriteLine(x);

        uint h = 2166136261;
        foreach (char c in "hash me")
            h = (h ^ c) * 16777619;
        Console.WriteLine("{0:x8} {1:x8}", h, (h << 13) | (h >> 19));
    }
}
