// Floating point and arrays: the spectral norm of an infinite matrix, approximated.
using System;
using System.Globalization;

static class SpectralNorm
{
    static double Element(int i, int j)
    {
        return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1);
    }

    static void Multiply(double[] v, double[] result)
    {
        for (int i = 0; i < result.Length; i++)
        {
            double sum = 0;
            for (int j = 0; j < v.Length; j++)
                sum += Element(i, j) * v[j];
            result[i] = sum;
        }
    }

    static void MultiplyTransposed(double[] v, double[] result)
    {
        for (int i = 0; i < result.Length; i++)
        {
            double sum = 0;
            for (int j = 0; j < v.Length; j++)
                sum += Element(j, i) * v[j];
            result[i] = sum;
        }
    }

    static void Main()
    {
        const int n = 2000;
        double[] u = new double[n], v = new double[n], half = new double[n];
        for (int i = 0; i < n; i++)
            u[i] = 1;
        for (int round = 0; round < 10; round++)
        {
            Multiply(u, half);
            MultiplyTransposed(half, v);
            Multiply(v, half);
            MultiplyTransposed(half, u);
        }
        double uv = 0, vv = 0;
        for (int i = 0; i < n; i++)
        {
            uv += u[i] * v[i];
            vv += v[i] * v[i];
        }
        Console.WriteLine(Math.Sqrt(uv / vv).ToString("F9", CultureInfo.InvariantCulture));
    }
}
