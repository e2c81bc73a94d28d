// Inner loops over rows of jagged arrays and fields, up to limits that are no lengths: a product of matrices, one of a
// sparse matrix and a vector, a decomposition, and relaxation. With the argument `times`, the best time of each.
using System;
using System.Diagnostics;

static class ArrayLoops
{
    static double[][] Matrix(int n)
    {
        var m = new double[n][];
        for (int i = 0; i < n; i++)
        {
            m[i] = new double[n];
            for (int j = 0; j < n; j++)
                m[i][j] = (i * 31 + j * 17) % 101 / 7.0 + (i == j ? n : 0);
        }
        return m;
    }

    static double Product(double[][] a, double[][] b, double[][] c, int n)
    {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
            {
                double sum = 0;
                double[] column = b[j];
                for (int k = 0; k < n; k++)
                    sum += a[i][k] * column[k];
                c[i][j] = sum;
            }
        return c[n / 2][n / 3];
    }

    static double Sparse(double[] values, int[] rows, int[] columns, double[] x, double[] y, int rounds)
    {
        int n = rows.Length - 1;
        for (int round = 0; round < rounds; round++)
            for (int row = 0; row < n; row++)
            {
                double sum = 0;
                int end = rows[row + 1];
                for (int i = rows[row]; i < end; i++)
                    sum += x[columns[i]] * values[i];
                y[row] = sum;
            }
        return y[n / 2];
    }

    static double Decompose(double[][] m, int n)
    {
        for (int j = 0; j < n; j++)
        {
            double pivot = 1 / m[j][j];
            for (int k = j + 1; k < n; k++)
                m[k][j] *= pivot;
            for (int i = j + 1; i < n; i++)
            {
                double[] row = m[i], first = m[j];
                double factor = row[j];
                for (int k = j + 1; k < n; k++)
                    row[k] -= factor * first[k];
            }
        }
        return m[n - 1][n - 1];
    }

    static double Relax(double[][] g, int n, int rounds)
    {
        for (int round = 0; round < rounds; round++)
            for (int i = 1; i < n - 1; i++)
            {
                double[] row = g[i], above = g[i - 1], below = g[i + 1];
                for (int j = 1; j < n - 1; j++)
                    row[j] = 0.3125 * (above[j] + below[j] + row[j - 1] + row[j + 1]) - 0.25 * row[j];
            }
        return g[n / 2][n / 2];
    }

    static double Measure(bool times, string name, Func<double> part)
    {
        double result = 0, best = double.MaxValue;
        for (int round = 0; round < 8; round++)
        {
            var watch = Stopwatch.StartNew();
            result = part();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
        }
        if (times)
            Console.WriteLine("{0,-10}{1,8:F2} ms", name, best);
        return result;
    }

    static void Main(string[] args)
    {
        bool times = args.Length > 0 && args[0] == "times";
        const int n = 300;
        double[][] a = Matrix(n), b = Matrix(n), c = Matrix(n);
        var rows = new int[5001];
        var columns = new int[5000 * 12];
        var values = new double[columns.Length];
        for (int i = 0; i < columns.Length; i++)
        {
            columns[i] = (int)(i * 7919L % 5000);
            values[i] = i % 13;
        }
        for (int i = 0; i < rows.Length; i++)
            rows[i] = i * 12;
        double[] x = new double[5000], y = new double[5000];
        for (int i = 0; i < x.Length; i++)
            x[i] = i % 7;
        double sum = Measure(times, "product", () => Product(a, b, c, n));
        sum += Measure(times, "sparse", () => Sparse(values, rows, columns, x, y, 60));
        sum += Measure(times, "decompose", () => Decompose(Matrix(n), n));
        sum += Measure(times, "relax", () => Relax(Matrix(n), n, 60));
        Console.WriteLine(sum.ToString("F3", System.Globalization.CultureInfo.InvariantCulture));
    }
}
