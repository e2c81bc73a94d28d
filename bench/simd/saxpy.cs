// y := k·x + y over arrays, a vector at a time.
using System;
using System.Numerics;

static class Saxpy
{
    static void Add(float k, float[] x, float[] y)
    {
        var factor = new Vector<float>(k);
        int step = Vector<float>.Count;
        for (int i = 0; i <= x.Length - step; i += step)
            (new Vector<float>(x, i) * factor + new Vector<float>(y, i)).CopyTo(y, i);
    }

    static void Main()
    {
        var x = new float[4096];
        var y = new float[4096];
        for (int i = 0; i < x.Length; i++)
            x[i] = i % 13;
        for (int round = 0; round < 600000; round++)
            Add((round & 1) == 0 ? 0.5f : -0.25f, x, y);
        double total = 0;
        foreach (float value in y)
            total += value;
        Console.WriteLine((long)total);
    }
}
