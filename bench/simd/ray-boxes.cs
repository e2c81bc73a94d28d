// Which rays meet a box: the slab test, with Vector3.
using System;
using System.Numerics;

static class RayBoxes
{
    static int Hits(Vector3[] origins, Vector3[] inverses, Vector3 low, Vector3 high)
    {
        int hits = 0;
        for (int i = 0; i < origins.Length; i++)
        {
            var first = (low - origins[i]) * inverses[i];
            var second = (high - origins[i]) * inverses[i];
            var enter = Vector3.Min(first, second);
            var leave = Vector3.Max(first, second);
            float near = Math.Max(Math.Max(enter.X, enter.Y), enter.Z);
            float far = Math.Min(Math.Min(leave.X, leave.Y), leave.Z);
            if (near <= far && far > 0)
                hits++;
        }
        return hits;
    }

    static void Main()
    {
        var origins = new Vector3[1000];
        var inverses = new Vector3[1000];
        for (int i = 0; i < origins.Length; i++)
        {
            origins[i] = new Vector3(i % 7, i % 5, i % 3);
            inverses[i] = Vector3.One / new Vector3(i % 11 + 1, i % 13 + 1, i % 17 + 1);
        }
        long total = 0;
        for (int round = 0; round < 100000; round++)
            total += Hits(origins, inverses, new Vector3(round % 4, 1, 1), new Vector3(round % 4 + 2, 4, 4));
        Console.WriteLine(total);
    }
}
