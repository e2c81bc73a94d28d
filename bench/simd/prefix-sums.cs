// Sums of all rectangles that begin at a table's corner: along the rows one by one, down the columns a vector at a time.
using System;
using System.Numerics;

static class PrefixSums
{
    const int Width = 512;
    const int Height = 64;

    static void AlongRows(int[] from, int[] to)
    {
        for (int y = 0; y < Height; y++)
        {
            int sum = 0;
            for (int x = y * Width; x < (y + 1) * Width; x++)
            {
                sum += from[x];
                to[x] = sum;
            }
        }
    }

    static void DownColumns(int[] table)
    {
        int step = Vector<int>.Count;
        for (int i = Width; i <= table.Length - step; i += step)
            (new Vector<int>(table, i) + new Vector<int>(table, i - Width)).CopyTo(table, i);
    }

    static void Main()
    {
        var values = new int[Width * Height];
        var sums = new int[values.Length];
        for (int i = 0; i < values.Length; i++)
            values[i] = i % 29;
        long check = 0;
        for (int round = 0; round < 30000; round++)
        {
            values[round % values.Length] = round;
            AlongRows(values, sums);
            DownColumns(sums);
            check = check * 31 + sums[sums.Length - 1];
        }
        Console.WriteLine(check);
    }
}
