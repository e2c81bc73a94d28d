// System.Random with a seed gives the documented sequence; a checksum over many integer operations.
using System;

static class Program
{
    static void Main()
    {
        Random random = new Random(42);
        for (int i = 0; i < 5; i++)
            Console.Write("{0} ", random.Next(1000));
        Console.WriteLine();
        byte[] bytes = new byte[8];
        random.NextBytes(bytes);
        Console.WriteLine(BitConverter.ToString(bytes));

        uint state = 12345, a = 0;
        long b = 1;
        ulong c = 1;
        int d = 1;
        for (int i = 0; i < 200000; i++)
        {
            state = state * 1664525 + 1013904223;
            int s = (int)state;
            a += state >> (i & 31);
            b = b * 31 + s;
            c ^= (c << 7) + (ulong)(uint)s;
            d = (d ^ s) / ((i & 7) + 1) + s % ((i & 15) + 3);
        }
        Console.WriteLine("{0:x} {1:x} {2:x} {3:x}", a, b, c, d);
    }
}
