// Static fields of every kind, thread-static fields, data from the image (array initialisers), volatile fields.
using System;
using System.Threading;

class Statics
{
    public static bool F1 = true;
    public static byte F2 = 200;
    public static short F3 = -5;
    public static char F4 = 'q';
    public static int F5 = int.MinValue;
    public static long F6 = long.MaxValue;
    public static float F7 = 1.5f;
    public static double F8 = 2.5;
    public static string F9 = "static";
    public static object F10 = 5;
    public static decimal F11 = 7.5m;
    public static DateTime F12 = new DateTime(1999, 9, 9);
    public static int[] F13 = { 1, 2, 3, 4, 5 };
    public static int? F14 = 6;
    public static volatile int F15 = 77;
    public static readonly byte[] Table = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255 };
    public static readonly double[] Doubles = { 0.5, -1.25, 1e100, 3.0 };
    public static readonly long[] Longs = { 1, -1, long.MinValue, 0x0102030405060708 };
    public static readonly string Unicode = "\u00e4\u20ac\0end";
    [ThreadStatic] public static int PerThread;
    [ThreadStatic] public static object PerThreadObject;
}

static class Program
{
    static void Increment(ref int x) { x++; }

    static void Main()
    {
        Console.WriteLine("{0} {1} {2} {3} {4} {5}", Statics.F1, Statics.F2, Statics.F3, Statics.F4, Statics.F5, Statics.F6);
        Console.WriteLine("{0} {1} {2} {3} {4} {5:yyyy} {6} {7} {8}", Statics.F7, Statics.F8, Statics.F9, Statics.F10, Statics.F11, Statics.F12, Statics.F13[4], Statics.F14, Statics.F15);
        int sum = 0;
        foreach (byte b in Statics.Table)
            sum += b;
        Console.WriteLine("{0} {1} {2:x} {3}", sum, Statics.Doubles[1], Statics.Longs[3], Statics.Unicode.Length);
        Increment(ref Statics.F5);
        Increment(ref Statics.F13[0]);
        Increment(ref Statics.PerThread);
        Console.WriteLine("{0} {1} {2}", Statics.F5, Statics.F13[0], Statics.PerThread);
        Statics.PerThreadObject = "main";
        string seen = null;
        Thread thread = new Thread(() =>
        {
            seen = Statics.PerThread + " " + (Statics.PerThreadObject ?? "null");
            Statics.PerThread = 100;
            Statics.PerThreadObject = new object();
            Increment(ref Statics.PerThread);
            seen += " " + Statics.PerThread;
        });
        thread.Start();
        thread.Join();
        Console.WriteLine("{0} | {1} {2}", seen, Statics.PerThread, Statics.PerThreadObject);
        ThreadLocal<int> local = new ThreadLocal<int>(() => 9);
        local.Value++;
        thread = new Thread(() => seen = local.Value.ToString());
        thread.Start();
        thread.Join();
        Console.WriteLine("{0} {1}", seen, local.Value);
        int[,] matrix = { { 1, 2 }, { 3, 4 }, { 5, 6 } };
        char[] chars = { 'x', 'y', 'z', 'w' };
        float[] floats = { 1, 2, 3.5f, 4 };
        Console.WriteLine("{0} {1} {2}", matrix[2, 1], new string(chars), floats[2]);
    }
}
