// Dot products of arrays, a vector at a time. Every sum is a small whole number, so that the order of additions does not show.
using System;
using System.Numerics;

static class DotProduct
{
    static float Dot(float[] a, float[] b)
    {
        var sums = Vector<float>.Zero;
        int step = Vector<float>.Count;
        for (int i = 0; i <= a.Length - step; i += step)
            sums += new Vector<float>(a, i) * new Vector<float>(b, i);
        return Vector.Dot(sums, Vector<float>.One);
    }

    static double Dot(double[] a, double[] b)
    {
        var sums = Vector<double>.Zero;
        int step = Vector<double>.Count;
        for (int i = 0; i <= a.Length - step; i += step)
            sums += new Vector<double>(a, i) * new Vector<double>(b, i);
        return Vector.Dot(sums, Vector<double>.One);
    }

    static void Main()
    {
        var singles = new[] { new float[4096], new float[4096] };
        var doubles = new[] { new double[4096], new double[4096] };
        for (int i = 0; i < 4096; i++)
        {
            singles[0][i] = i % 7;
            singles[1][i] = i % 5;
            doubles[0][i] = i % 17;
            doubles[1][i] = i % 13;
        }
        double total = 0;
        for (int round = 0; round < 400000; round++)
        {
            singles[0][round & 4095] = round % 7;
            total += Dot(singles[0], singles[1]);
            total += Dot(doubles[0], doubles[1]);
        }
        Console.WriteLine((long)total);
    }
}
