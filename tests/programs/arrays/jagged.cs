// Arrays of arrays, null rows, compound assignment to elements of every primitive type.
using System;

static class Program
{
    static int calls;

    static int Index()
    {
        calls++;
        return 1;
    }

    static void Main()
    {
        int[][] triangle = new int[6][];
        for (int i = 0; i < triangle.Length; i++)
        {
            triangle[i] = new int[i + 1];
            for (int j = 0; j <= i; j++)
                triangle[i][j] = j == 0 || j == i ? 1 : triangle[i - 1][j - 1] + triangle[i - 1][j];
        }
        foreach (int[] row in triangle)
            Console.WriteLine(string.Join(" ", row));
        double[][][] deep = { new[] { new[] { 1.5 } }, null };
        Console.WriteLine(deep[0][0][0] == 1.5);
        try
        {
            Console.WriteLine(deep[1][0]);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("null row");
        }
        bool[] f = new bool[2];
        byte[] b = new byte[2];
        sbyte[] sb = new sbyte[2];
        char[] c = { 'a', 'b' };
        short[] s = new short[2];
        ushort[] us = new ushort[2];
        uint[] u = new uint[2];
        long[] l = new long[2];
        ulong[] ul = new ulong[2];
        float[] r4 = new float[2];
        double[] r8 = new double[2];
        IntPtr[] p = new IntPtr[2];
        f[Index()] |= true;
        b[Index()] -= 1;
        sb[Index()] -= 1;
        c[Index()]++;
        s[Index()] = unchecked((short)40000);
        us[Index()] = 40000;
        u[Index()] -= 1;
        l[Index()] = 1L << 40;
        ul[Index()] = 1UL << 63;
        r4[Index()] += 1.5f;
        r8[Index()] += 2.5;
        p[Index()] = new IntPtr(77);
        Console.WriteLine("{0} {1} {2} {3} {4} {5}", f[1], b[1], sb[1], c[1], s[1], us[1]);
        Console.WriteLine("{0} {1} {2} {3} {4} {5} {6}", u[1], l[1], ul[1], r4[1] == 1.5f, r8[1] == 2.5, p[1], calls);
        Console.WriteLine("{0}{1}{2}{3}", b[0], c[0], l[0], r8[0]);
    }
}
