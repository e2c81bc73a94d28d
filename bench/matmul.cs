// Jagged arrays in inner loops: a matrix product.
using System;
using System.Globalization;

static class MatMul
{
    static double[][] Make(int n, double scale)
    {
        double[][] m = new double[n][];
        for (int i = 0; i < n; i++)
        {
            m[i] = new double[n];
            for (int j = 0; j < n; j++)
                m[i][j] = scale * (i - j) * (i + j);
        }
        return m;
    }

    static double[][] Multiply(double[][] a, double[][] b)
    {
        int n = a.Length;
        double[][] transposed = new double[n][];
        for (int i = 0; i < n; i++)
        {
            transposed[i] = new double[n];
            for (int j = 0; j < n; j++)
                transposed[i][j] = b[j][i];
        }
        double[][] c = new double[n][];
        for (int i = 0; i < n; i++)
        {
            double[] row = a[i], result = new double[n];
            for (int j = 0; j < n; j++)
            {
                double[] column = transposed[j];
                double sum = 0;
                for (int k = 0; k < n; k++)
                    sum += row[k] * column[k];
                result[j] = sum;
            }
            c[i] = result;
        }
        return c;
    }

    static void Main()
    {
        const int n = 800;
        double[][] c = Multiply(Make(n, 1.0 / n / n), Make(n, 2.0 / n / n));
        Console.WriteLine(c[n / 2][n / 2].ToString("F6", CultureInfo.InvariantCulture));
    }
}
