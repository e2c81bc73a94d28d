// References to locals, fields, elements: ref returns, ref locals, out, swapping through references, Unsafe-like use.
using System;

class Box
{
    int value = 1;
    public ref int Value { get { return ref value; } }
    public readonly int[] Items = { 10, 20, 30 };
    public ref int this[int index] { get { return ref Items[index]; } }
}

struct Matrix
{
    public double A, B;
}

static class Program
{
    static ref T Choose<T>(bool first, ref T a, ref T b)
    {
        if (first)
            return ref a;
        return ref b;
    }

    static ref int Find(int[] array, int wanted)
    {
        for (int i = 0; i < array.Length; i++)
            if (array[i] == wanted)
                return ref array[i];
        throw new ArgumentException("not found");
    }

    static void Fill(out int a, out string b, out Matrix c)
    {
        a = 1;
        b = "b";
        c = new Matrix { B = 3 };
    }

    static void Change(ref Matrix m, ref string s, ref object o)
    {
        m.A++;
        s += "!";
        o = m;
    }

    static bool TryHalf(int n, out int half)
    {
        half = n / 2;
        return n % 2 == 0;
    }

    static void Main()
    {
        int x = 1, y = 2;
        Choose(false, ref x, ref y) = 9;
        Console.WriteLine("{0} {1}", x, y);
        string s = "s", t = "t";
        Choose(true, ref s, ref t) += "+";
        Console.WriteLine("{0} {1}", s, t);
        Box box = new Box();
        ref int inside = ref box.Value;
        inside += 5;
        box[1]++;
        Console.WriteLine("{0} {1}", box.Value, box.Items[1]);
        int[] array = { 3, 1, 4 };
        Find(array, 4) = 40;
        ref int element = ref Find(array, 1);
        element = element * 7;
        Console.WriteLine(string.Join(" ", array));
        int a;
        string b;
        Matrix c;
        Fill(out a, out b, out c);
        object o = null;
        Change(ref c, ref b, ref o);
        c.A = 100;
        Console.WriteLine("{0} {1} {2} {3}", a, b, c.A, ((Matrix)o).A);
        Matrix[] matrices = new Matrix[2];
        ref Matrix m = ref matrices[1];
        m.A = 1.5;
        m = new Matrix { A = m.A + 1, B = 2 };
        Console.WriteLine("{0} {1}", matrices[1].A, matrices[1].B);
        int half;
        Console.WriteLine("{0} {1}", TryHalf(7, out half), half);
        if (TryHalf(8, out int declared))
            Console.WriteLine(declared);
        long total = 0;
        for (int i = 0; i < 1000; i++)
        {
            ref int slot = ref array[i % 3];
            slot += i;
            if (i % 100 == 0)
                GC.Collect(0);
            total += slot;
        }
        Console.WriteLine("{0} {1}", total, string.Join(" ", array));
    }
}
