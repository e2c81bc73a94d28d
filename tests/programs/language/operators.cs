// User-defined operators, indexers, properties, conversions, extension methods, optional and named arguments, params.
using System;
using System.Collections.Generic;

struct Complex
{
    public readonly double Re, Im;
    public Complex(double re, double im) { Re = re; Im = im; }
    public static Complex operator +(Complex a, Complex b) { return new Complex(a.Re + b.Re, a.Im + b.Im); }
    public static Complex operator *(Complex a, Complex b) { return new Complex(a.Re * b.Re - a.Im * b.Im, a.Re * b.Im + a.Im * b.Re); }
    public static Complex operator -(Complex a) { return new Complex(-a.Re, -a.Im); }
    public static Complex operator ++(Complex a) { return new Complex(a.Re + 1, a.Im); }
    public static bool operator ==(Complex a, Complex b) { return a.Re == b.Re && a.Im == b.Im; }
    public static bool operator !=(Complex a, Complex b) { return !(a == b); }
    public static bool operator true(Complex a) { return a.Re != 0; }
    public static bool operator false(Complex a) { return a.Re == 0; }
    public static Complex operator &(Complex a, Complex b) { return a.Re == 0 ? a : b; }
    public static implicit operator Complex(double d) { return new Complex(d, 0); }
    public static explicit operator double(Complex c) { return c.Re; }
    public override bool Equals(object o) { return o is Complex && (Complex)o == this; }
    public override int GetHashCode() { return Re.GetHashCode() ^ Im.GetHashCode(); }
    public override string ToString() { return Re + "+" + Im + "i"; }
}

class Grid
{
    readonly Dictionary<string, int> cells = new Dictionary<string, int>();
    public int this[int x, int y]
    {
        get { int v; cells.TryGetValue(x + "," + y, out v); return v; }
        set { cells[x + "," + y] = value; }
    }
    public string this[string name] { get { return "[" + name + "]"; } }
    public int Auto { get; private set; } = 5;
    public int Computed => Auto * 2;
    public static int Shared { get; set; }
    public void Grow() { Auto++; }
}

class Disposable : IDisposable
{
    readonly string name;
    public Disposable(string name) { this.name = name; Console.Write("open-" + name + " "); }
    public void Dispose() { Console.Write("close-" + name + " "); }
}

static class Extensions
{
    public static int WordCount(this string s) { return s.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries).Length; }
    public static T Also<T>(this T value, Action<T> action) { action(value); return value; }
    public static void Add(this List<int> list, int a, int b) { list.Add(a * b); }
}

partial class Split { public string A() { return "A" + B(); } partial void Hook(ref string s); public string C() { string s = "c"; Hook(ref s); return s; } }
partial class Split { string B() { return "B"; } partial void Hook(ref string s) { s += "hooked"; } }

static class Program
{
    static string Optional(int a, int b = 10, string c = "def", params object[] rest) { return a + "," + b + "," + c + "," + rest.Length; }
    static int Count(params int[] items) { return items == null ? -1 : items.Length; }
    static string Which(int x) { return "int"; }
    static string Which(long x) { return "long"; }
    static string Which(double x) { return "double"; }
    static string Which(object x) { return "object"; }

    static string Classify(object o)
    {
        if (o == null)
            return "null";
        if (o is int n)
            return n > 100 ? "big " + n : "int " + n;
        if (o is string s)
            return s.Length == 0 ? "empty" : "string " + s;
        return o is int[] a ? "array " + a.Length : o.GetType().Name;
    }

    static string Word(string s)
    {
        switch (s)
        {
            case "alpha": return "1";
            case "beta": return "2";
            case "gamma": goto case "alpha";
            case "delta": case "epsilon": return "45";
            case "zeta": return "6";
            case "eta": return "7";
            case "theta": return "8";
            case null: return "null";
            default: return "?";
        }
    }

    static void Main()
    {
        Complex a = new Complex(1, 2), b = 3;
        Console.WriteLine("{0} {1} {2} {3}", a + b, a * a, -a, (double)a);
        a++;
        Console.WriteLine("{0} {1} {2}", a, a == new Complex(2, 2), a != b);
        Console.WriteLine("{0} {1}", a ? "true" : "false", new Complex(0, 1) && b ? "true" : "false");
        a += 1.5;
        Console.WriteLine(a);

        Grid grid = new Grid();
        grid[1, 2] = 5;
        grid[1, 2] += 3;
        grid[0, 0]++;
        grid.Grow();
        Grid.Shared += grid.Computed;
        Console.WriteLine("{0} {1} {2} {3} {4} {5}", grid[1, 2], grid[0, 0], grid[9, 9], grid["n"], grid.Computed, Grid.Shared);

        Console.WriteLine("{0} {1} {2}", Optional(1), Optional(1, c: "x"), Optional(b: 2, a: 1, c: "y"));
        Console.WriteLine("{0} {1} {2} {3}", Optional(1, 2, "3", 4, 5), Count(), Count(1, 2), Count(null));
        Console.WriteLine("{0} {1} {2} {3} {4}", Which(1), Which(1u), Which(1f), Which('c'), Which(1m));
        Console.WriteLine("{0} {1}", "one two  three".WordCount(), new List<int> { 1, { 2, 3 }, 4 }[1]);
        Console.WriteLine("chain".Also(s => Console.Write(s + " ")).Length);
        foreach (object o in new object[] { null, 5, 500, "", "s", new int[3], 1.5 })
            Console.Write(Classify(o) + "; ");
        Console.WriteLine();
        foreach (string s in new[] { "alpha", "beta", "gamma", "epsilon", "theta", "other", null })
            Console.Write(Word(s) + " ");
        Console.WriteLine();
        using (new Disposable("a"))
        using (Disposable d = new Disposable("b"))
        {
            Console.Write("body ");
        }
        Console.WriteLine();
        try
        {
            using (new Disposable("c"))
                throw new Exception("x");
        }
        catch (Exception)
        {
            Console.WriteLine("caught");
        }
        Console.WriteLine("{0} {1}", new Split().A(), new Split().C());
        object boxed = 3;
        if (boxed is int number && number > 2)
            Console.WriteLine("pattern " + number);
        string maybe = null;
        Console.WriteLine("{0} {1} {2}", maybe ?? "coalesced", maybe?.ToUpper() ?? "none", nameof(Grid.Computed));
        int i = 0;
        int[] order = { i++, i++, i++ };
        order[i - 1] = i++ + order[0];
        Console.WriteLine("{0} {1}", string.Join(" ", order), i);
    }
}
