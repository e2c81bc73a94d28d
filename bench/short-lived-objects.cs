// Objects that only one method knows for a moment: points, boxes, closures with their delegates, small iterators.
// With the argument `times`, the best time of each in milliseconds.
using System;
using System.Diagnostics;

sealed class Vector
{
    public readonly double X, Y, Z;
    public Vector(double x, double y, double z) { X = x; Y = y; Z = z; }
    public Vector Plus(Vector other) { return new Vector(X + other.X, Y + other.Y, Z + other.Z); }
    public double Dot(Vector other) { return X * other.X + Y * other.Y + Z * other.Z; }
}

sealed class Range
{
    int at, end;
    public Range(int first, int last) { at = first - 1; end = last; }
    public bool Next() { return ++at < end; }
    public int Current { get { return at; } }
}

sealed class Pair { public object First; public Vector Second; }

static class ShortLivedObjects
{
    const int Rounds = 5000000;

    static int Vectors()
    {
        double sum = 0;
        for (int i = 0; i < Rounds; i++)
        {
            var a = new Vector(i, 1, 2);
            var b = a.Plus(new Vector(3, i, 1));
            sum += a.Dot(b);
        }
        return sum > 0 ? 1 : 0;
    }

    static bool Same<T>(T a, T b) { return a.Equals((object)b); }

    static int Boxes()
    {
        int sum = 0;
        for (int i = 0; i < Rounds; i++)
        {
            object o = i;
            if (o is int && (int)o % 3 == 0)
                sum++;
            if (Same(i & 7, 5))
                sum += 2;
        }
        return sum;
    }

    static int Closures()
    {
        int sum = 0;
        for (int i = 0; i < Rounds; i++)
        {
            int by = i & 15;
            Func<int, int> add = n => n + by;
            sum += add(i) ^ add(by);
        }
        return sum;
    }

    static int Twice(Func<int, int> f, int n) { return f(f(n)); }

    static int PassedLambdas()
    {
        int sum = 0;
        for (int i = 0; i < Rounds; i++)
        {
            int by = i & 15;
            sum += Twice(n => n * 3 + by, i);
        }
        return sum;
    }

    static int Iterators()
    {
        int sum = 0;
        for (int i = 0; i < Rounds / 4; i++)
        {
            var range = new Range(i, i + 4);
            while (range.Next())
                sum += range.Current;
        }
        return sum;
    }

    static int Nested()
    {
        int sum = 0;
        for (int i = 0; i < Rounds; i++)
        {
            var pair = new Pair { First = i, Second = new Vector(i, 0, 0) };
            sum += (int)pair.First + (int)pair.Second.X;
        }
        return sum;
    }

    static int Measure(bool times, string name, Func<int> part)
    {
        int result = 0;
        double best = double.MaxValue;
        for (int round = 0; round < 12; round++)
        {
            var watch = Stopwatch.StartNew();
            result += part();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
        }
        if (times)
            Console.WriteLine("{0,-14}{1,8:F2} ms", name, best);
        return result;
    }

    static void Main(string[] args)
    {
        bool times = args.Length > 0 && args[0] == "times";
        int sum = Measure(times, "vectors", Vectors);
        sum += Measure(times, "boxes", Boxes);
        sum += Measure(times, "closures", Closures);
        sum += Measure(times, "passed lambdas", PassedLambdas);
        sum += Measure(times, "iterators", Iterators);
        sum += Measure(times, "nested", Nested);
        Console.WriteLine(sum);
    }
}
