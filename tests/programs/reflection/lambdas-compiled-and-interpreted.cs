// Small lambdas of many shapes, each compiled to a dynamic method and interpreted by the class library: both must agree,
// exceptions included.
using System;
using System.Collections.Generic;
using System.Linq.Expressions;

class Point
{
    public int X;
    public double Y;
    public string Name;
    public static int Count = 5;
    public Point Next;
    public byte Small;
    public short Medium;
    public int Twice { get { return X * 2; } set { X = value / 2; } }
    public virtual int Virtual(int n) { return X + n; }
    public static long Static(int a, long b, double c, float d, int e, int f) { return a + 2 * b + (long) (3 * c) + (long) (4 * d) + 5 * e + 6 * f; }
    public override string ToString() { return "Point " + X; }
}

class Far : Point
{
    public override int Virtual(int n) { return X * n; }
}

static class Lambdas
{
    static int compared, differences;

    static string Show(object value)
    {
        if (value is double)
            return ((double) value).ToString("R");
        if (value is float)
            return ((float) value).ToString("R");
        return value == null ? "null" : value.ToString();
    }

    static string Result(Func<object> call)
    {
        try {
            return Show(call());
        } catch (Exception e) {
            return e.GetType().Name;
        }
    }

    static void Compare<A, R>(Expression<Func<A, R>> lambda, params A[] values)
    {
        Func<A, R> compiled = lambda.Compile(), interpreted = lambda.Compile(true);
        foreach (A value in values)
            Note(lambda, Show(value), Result(() => compiled(value)), Result(() => interpreted(value)));
    }

    static void Compare2<A, B, R>(Expression<Func<A, B, R>> lambda, A[] firsts, B[] seconds)
    {
        Func<A, B, R> compiled = lambda.Compile(), interpreted = lambda.Compile(true);
        foreach (A a in firsts)
            foreach (B b in seconds)
                Note(lambda, Show(a) + ", " + Show(b), Result(() => compiled(a, b)), Result(() => interpreted(a, b)));
    }

    static void Note(Expression lambda, string values, string compiled, string interpreted)
    {
        compared++;
        if (compiled == interpreted)
            return;
        differences++;
        Console.WriteLine("{0} of {1}: {2} compiled, {3} interpreted", lambda, values, compiled, interpreted);
    }

    static void Main()
    {
        int[] ints = { 0, 1, -1, 7, -13, 1000, int.MaxValue, int.MinValue };
        long[] longs = { 0, 1, -1, 5000000000, -3, long.MaxValue, long.MinValue };
        double[] doubles = { 0, -0.0, 1.5, -2.25, 1e300, double.NaN, double.PositiveInfinity, double.NegativeInfinity };
        float[] floats = { 0, 1.5f, -3, float.NaN, float.MaxValue };

        Compare((int x) => x * 12345 + 7, ints);
        Compare((int x) => (x & 0xFF | 3) ^ ~x, ints);
        Compare((int x) => -x + (x << 3) - (x >> 2), ints);
        Compare((int x) => (int) ((uint) x >> 5), ints);
        Compare((int x) => checked(x + 1), ints);
        Compare((int x) => checked(x * 3 - 1), ints);
        Compare((int x) => x > 5 ? x * 2 : x - 2, ints);
        Compare((int x) => x >= 0 && x < 10 || x == 1000, ints);
        Compare((int x) => (byte) x + (sbyte) x + (short) x + (ushort) x, ints);
        Compare((int x) => (long) x * x, ints);
        Compare((int x) => (double) x / 4, ints);
        Compare((int x) => x / 7 + x % 5, ints);
        Compare((int x) => 10 / x, ints);
        Compare2((int a, int b) => a < b ? a : b, ints, ints);
        Compare2((int a, int b) => a == b || a != b && a <= b, ints, ints);
        Compare2((int a, int b) => (uint) a > (uint) b, ints, ints);
        Compare2((int a, int b) => checked(a * b), ints, ints);
        Compare2((int a, int b) => checked(a - b), ints, ints);
        Compare((long x) => x * 3 - 1 ^ 0x1234567890, longs);
        Compare((long x) => (int) x, longs);
        Compare((long x) => checked(x + 5), longs);
        Compare2((long a, int b) => a + b * 2L, longs, ints);
        Compare((double x) => x * 2.5 - 1, doubles);
        Compare((double x) => -x, doubles);
        Compare((double x) => (float) x, doubles);
        Compare((float x) => x * 2 + 1.5, floats);
        Compare((float x) => -x / 3, floats);
        Compare2((double a, double b) => a < b, doubles, doubles);
        Compare2((double a, double b) => a <= b, doubles, doubles);
        Compare2((double a, double b) => a > b, doubles, doubles);
        Compare2((double a, double b) => a >= b ? 1 : 2, doubles, doubles);
        Compare2((double a, double b) => a == b, doubles, doubles);
        Compare2((double a, double b) => a != b ? 3 : 4, doubles, doubles);
        Compare2((double a, double b) => !(a < b) && !(a > b), doubles, doubles);

        Point[] points = { new Point { X = 3, Y = 1.5, Name = "p", Small = 200, Medium = -5, Next = new Far { X = 9 } }, new Far { X = 4 }, null };
        Compare((Point p) => p.X + 1, points);
        Compare((Point p) => p.Y * 2, points);
        Compare((Point p) => p.Name, points);
        Compare((Point p) => p.Small + p.Medium, points);
        Compare((Point p) => p.Next.X, points);
        Compare((Point p) => p.Next == null, points);
        Compare((Point p) => p.Twice + Point.Count, points);
        Compare((Point p) => p.Virtual(6), points);
        Compare((Point p) => p.Virtual(p.Virtual(2)) - p.X, points);
        Compare((Point p) => p.ToString(), points);
        Compare((Point p) => p.Name.Length, points);
        Compare((Point p) => p is Far, points);
        Compare((Point p) => (Far) p, points);
        Compare((int x) => Point.Static(x, x + 1, x * 0.5, x - 1, 4, -x), 0, 3, -8);
        Compare((int x) => Math.Abs(x % 100) + Math.Max(x % 7, 3), ints);
        Compare((int x) => new Point { X = x }.Twice, ints);
        Compare((int x) => (object) x, ints);
        Compare((int x) => x.ToString() + "!", ints);

        int[][] arrays = { new[] { 1, 2, 3, 4 }, new int[0], null };
        Compare((int[] a) => a[2], arrays);
        Compare((int[] a) => a.Length, arrays);
        Compare2((int[] a, int i) => a[i], arrays, new[] { 0, 3, 4, -1 });
        Compare2((string[] a, int i) => a[i], new[] { new[] { "a", null } }, new[] { 0, 1, 2 });
        Compare2((double[] a, int i) => a[i] + 1, new[] { new[] { 1.5 } }, new[] { 0, 1 });
        Compare2((byte[] a, int i) => a[i] * 2, new[] { new byte[] { 250 } }, new[] { 0, 1 });
        IList<int>[] lists = { new List<int> { 5, 6 }, new[] { 7 }, null };
        Compare2((IList<int> list, int i) => list[i] + list.Count, lists, new[] { 0, 1 });
        Func<int, int> inner = n => n + 100;
        Compare((int x) => inner(x) + inner(inner(x)), ints);
        string captured = "kept";
        Compare((string s) => s + captured, "x", null);
        Compare((string s) => s == "x" ? 1 : s == null ? 2 : 3, "x", null, "y");
        Compare((int x) => x == 1 ? "one" : x == 7 ? "seven" : x < 0 ? "less" : captured, ints);
        Console.WriteLine("{0} compared, {1} differ", compared, differences);

        // More arguments than registers, and deep expressions.
        Expression<Func<int, int, int, int, int, int, int, int, int>> many = (a, b, c, d, e, f, g, h) => a - b + c - d + e - f + g * h;
        Console.WriteLine(many.Compile()(1, 2, 3, 4, 5, 6, 7, 8));
        Expression<Func<double, double, double>> deep =
            (x, y) => (x + y) * (x - y) + (x * y + 1) * (x * y - 1) + (x + 2) * (y + 3) * ((x + 4) * (y + 5) + (x - 6) * (y - 7));
        Console.WriteLine(deep.Compile()(1.5, -2.5));

        // Where an exception comes from.
        Expression<Func<Point, int>> fails = p => p.Next.Next.X;
        try {
            fails.Compile()(points[0]);
        } catch (NullReferenceException e) {
            Console.WriteLine(e.StackTrace.Contains("lambda_method"));
        }
        // A recursive lambda: calls through a delegate that it holds.
        Func<int, int> factorial = null;
        Expression<Func<int, int>> step = n => n <= 1 ? 1 : n * factorial(n - 1);
        factorial = step.Compile();
        Console.WriteLine(factorial(10));
    }
}
