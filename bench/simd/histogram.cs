// How often each byte occurs, in four tables that a vector loop adds up.
using System;
using System.Numerics;

static class Histogram
{
    static void Count(byte[] bytes, int[][] tables)
    {
        int[] a = tables[0], b = tables[1], c = tables[2], d = tables[3];
        for (int i = 0; i + 3 < bytes.Length; i += 4)
        {
            a[bytes[i]]++;
            b[bytes[i + 1]]++;
            c[bytes[i + 2]]++;
            d[bytes[i + 3]]++;
        }
    }

    static void AddUp(int[][] tables, int[] sums)
    {
        int step = Vector<int>.Count;
        for (int i = 0; i < sums.Length; i += step)
        {
            var sum = new Vector<int>(sums, i);
            foreach (int[] table in tables)
                sum += new Vector<int>(table, i);
            sum.CopyTo(sums, i);
        }
    }

    static void Main()
    {
        var bytes = new byte[4096];
        uint random = 1;
        for (int i = 0; i < bytes.Length; i++)
        {
            random = random * 1664525 + 1013904223;
            bytes[i] = (byte)(random >> 24);
        }
        var sums = new int[256];
        var tables = new[] { new int[256], new int[256], new int[256], new int[256] };
        for (int round = 0; round < 200000; round++)
        {
            Count(bytes, tables);
            if (round % 4 == 3)
            {
                AddUp(tables, sums);
                foreach (int[] table in tables)
                    Array.Clear(table, 0, table.Length);
            }
        }
        long check = 0;
        for (int i = 0; i < 256; i++)
            check = check * 31 + sums[i];
        Console.WriteLine(check);
    }
}
