// The Mandelbrot set, as many points at a time as a Vector<double> holds.
using System;
using System.Numerics;

static class MandelbrotVector
{
    static int Inside(int size)
    {
        int step = Vector<double>.Count;
        var numbers = new double[step];
        for (int i = 0; i < step; i++)
            numbers[i] = i;
        var offsets = new Vector<double>(numbers);
        double scale = 2.0 / size;
        var four = new Vector<double>(4.0);
        int inside = 0;
        for (int y = 0; y < size; y++)
        {
            var ci = new Vector<double>(y * scale - 1);
            for (int x = 0; x < size; x += step)
            {
                var cr = (new Vector<double>((double)x) + offsets) * new Vector<double>(scale) - new Vector<double>(1.5);
                var zr = cr;
                var zi = ci;
                var left = Vector<long>.Zero;
                for (int i = 0; i < 50; i++)
                {
                    var r2 = zr * zr;
                    var i2 = zi * zi;
                    left = Vector.BitwiseOr(left, Vector.GreaterThan(r2 + i2, four));
                    if (Vector.EqualsAll(left, new Vector<long>(-1)))
                        break;
                    zi = zr * zi * 2.0 + ci;
                    zr = r2 - i2 + cr;
                }
                for (int lane = 0; lane < step; lane++)
                    if (left[lane] == 0)
                        inside++;
            }
        }
        return inside;
    }

    static void Main()
    {
        int total = 0;
        for (int round = 0; round < 10; round++)
            total += Inside(1200 + 16 * round);
        Console.WriteLine(total);
    }
}
