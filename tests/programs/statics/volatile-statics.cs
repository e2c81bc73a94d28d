// Volatile statics lie apart from the others: none overlaps another, and references among them are roots.
using System;

struct Pair
{
    public object Left;
    public int Right;
}

class Mixed
{
    static byte first = 1;
    static volatile bool flag;
    static volatile object kept;
    static long wide = 2;
    static volatile int number;
    static Pair pair;
    static volatile float real;
    static string text = "text";
    [ThreadStatic] static volatile int own;

    static void Fill()
    {
        flag = true;
        kept = new string('k', 5);
        number = 3;
        pair = new Pair { Left = new string('l', 6), Right = 4 };
        real = 1.5f;
        own = 6;
    }

    static void Main()
    {
        Fill();
        for (int i = 0; i < 200; i++)
        {
            var garbage = new byte[10000];
            garbage[0] = 1;
        }
        GC.Collect();
        Console.WriteLine("{0} {1} {2} {3} {4}", first, flag, kept, wide, number);
        Console.WriteLine("{0} {1} {2} {3} {4}", pair.Left, pair.Right, real == 1.5f, text, own);
        Console.WriteLine(Generic<int>.Count + " " + Generic<string>.Count + " " + OnlyVolatile.Value);
    }
}

static class Generic<T>
{
    static int plain = 7;
    static volatile int count = 8;
    public static int Count { get { return plain + count; } }
}

static class OnlyVolatile
{
    static volatile string value = "only";
    public static string Value { get { return value; } }
}
