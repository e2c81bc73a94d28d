// Threads that call methods in all ways and check the results, for so many seconds: arguments are seconds and threads.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

interface IShape {
    double Area ();
    string Name { get; }
}

abstract class Shape : IShape {
    public abstract double Area ();
    public virtual string Name { get { return "shape"; } }
    public virtual int Corners (int scale) { return 0; }
}

class Square : Shape {
    readonly double side;
    public Square (double side) { this.side = side; }
    public override double Area () { return side * side; }
    public override string Name { get { return "square"; } }
    public override int Corners (int scale) { return 4 * scale; }
}

class Circle : Shape {
    readonly double radius;
    public Circle (double radius) { this.radius = radius; }
    public override double Area () { return 3 * radius * radius; }
}

sealed class Cube : Square {
    public Cube (double side) : base (side) { }
    public override double Area () { return 6 * base.Area (); }
    public override int Corners (int scale) { return base.Corners (scale) + 4 * scale; }
}

struct Point : IComparable<Point> {
    public int X;
    public int CompareTo (Point other) { return X - other.X; }
    public override int GetHashCode () { return X * 31; }
}

static class Load {
    static int bad;
    static volatile bool ended;

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Fib (int n) { return n < 2 ? n : Fib (n - 1) + Fib (n - 2); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static bool IsEven (int n) { return n == 0 || IsOdd (n - 1); }
    [MethodImpl (MethodImplOptions.NoInlining)]
    static bool IsOdd (int n) { return n != 0 && IsEven (n - 1); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static T Larger<T> (T a, T b) where T : IComparable<T> { return a.CompareTo (b) > 0 ? a : b; }

    static int Thrown (int depth) {
        try {
            if (depth == 0)
                throw new InvalidOperationException ("deep");
            return Thrown (depth - 1) + 1;
        } catch (InvalidOperationException) when (depth == 5) {
            return 100;
        } finally {
            if (depth < 0)
                bad++;
        }
    }

    // A method that runs as long as the load: it is replaced while it runs.
    static long Long (IShape[] shapes) {
        long sum = 0;
        for (int i = 0; i < 20000; i++)
            sum += (long) shapes [i % shapes.Length].Area () + shapes [i % shapes.Length].Name.Length;
        return sum;
    }

    static void Check (bool good, string what) {
        if (good)
            return;
        if (Interlocked.Increment (ref bad) < 10)
            Console.WriteLine ("wrong: " + what);
    }

    static IEnumerable<int> Numbers (int count) {
        for (int i = 0; i < count; i++)
            yield return i * 3;
    }

    static void Work () {
        var shapes = new IShape [] { new Square (2), new Circle (1), new Cube (1) };
        var words = new Dictionary<string, int> ();
        Func<int, int> twice = x => x * 2;
        Comparison<Point> byX = (a, b) => a.CompareTo (b);
        while (!ended) {
            Check (Fib (15) == 610, "recursion");
            Check (IsEven (40) && !IsEven (41), "mutual recursion");
            Check (Long (shapes) == 199998L, "interfaces");
            int corners = 0;
            foreach (Shape shape in shapes)
                corners += shape.Corners (2);
            Check (corners == 24, "virtual calls");
            Check (Larger (3, 4) == 4 && Larger ("b", "a") == "b", "generic methods");
            Check (Larger (new Point { X = 2 }, new Point { X = 1 }).X == 2, "value types");
            Check (Thrown (5) == 100, "exceptions");
            Check (twice (21) == 42, "delegates");
            var points = new List<Point> ();
            for (int i = 0; i < 50; i++)
                points.Add (new Point { X = i * 7 % 50 });
            points.Sort (byX);
            Check (points [0].X == 0 && points [49].X == 49, "sorting");
            words.Clear ();
            for (int i = 0; i < 100; i++) {
                int count;
                string word = "w" + i % 10;
                words.TryGetValue (word, out count);
                words [word] = count + 1;
            }
            Check (words.Count == 10 && words ["w3"] == 10, "dictionaries");
            var text = new StringBuilder ();
            foreach (int number in Numbers (20))
                text.Append (number).Append (',');
            Check (text.Length == 56 && text.ToString ().EndsWith ("57,"), "text " + text.Length);
            Check (string.Format ("{0:x} {1}", 255, 1.5) == "ff 1.5", "formats");
        }
    }

    static int Main (string[] args) {
        var threads = new Thread [int.Parse (args [1])];
        for (int i = 0; i < threads.Length; i++) {
            threads [i] = new Thread (Work);
            threads [i].Start ();
        }
        var watch = Stopwatch.StartNew ();
        while (watch.Elapsed.TotalSeconds < double.Parse (args [0]))
            Thread.Sleep (10);
        ended = true;
        foreach (var thread in threads)
            thread.Join ();
        Console.WriteLine (bad == 0 ? "ok" : "bad: " + bad);
        return bad == 0 ? 0 : 1;
    }
}
