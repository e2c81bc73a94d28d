// Floating point in registers: the Mandelbrot set, as a count and a checksum of the points inside.
using System;

static class Mandelbrot
{
    static void Main()
    {
        const int size = 1400, limit = 100;
        int inside = 0;
        uint checksum = 0;
        for (int y = 0; y < size; y++)
        {
            double ci = 2.0 * y / size - 1.0;
            for (int x = 0; x < size; x++)
            {
                double cr = 2.0 * x / size - 1.5;
                double zr = 0, zi = 0, rr = 0, ii = 0;
                int n = 0;
                while (n < limit && rr + ii <= 4.0)
                {
                    zi = 2.0 * zr * zi + ci;
                    zr = rr - ii + cr;
                    rr = zr * zr;
                    ii = zi * zi;
                    n++;
                }
                if (n == limit)
                    inside++;
                checksum = checksum * 31 + (uint)n;
            }
        }
        Console.WriteLine("{0} {1:x8}", inside, checksum);
    }
}
