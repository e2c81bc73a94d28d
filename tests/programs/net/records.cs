// Records: equality by value, deconstruction, `with`, what they print, inheritance, record structs; init-only and required members.
using System;
using System.Collections.Generic;

record Point(int X, int Y);
record Point3(int X, int Y, int Z) : Point(X, Y);
readonly record struct Pair<T>(T First, T Second);
record Person { public required string Name { get; init; } public int Age { get; init; } = 30; public List<int> Marks { get; init; } }
sealed record Money(decimal Amount, string Currency) { public override string ToString() => $"{Amount} {Currency}"; }

static class Test
{
    static void Main()
    {
        Point a = new(1, 2), b = new(1, 2), c = a with { Y = 5 };
        Console.WriteLine($"{a} {a == b} {ReferenceEquals(a, b)} {a.GetHashCode() == b.GetHashCode()} {c}");
        var (x, y) = c;
        Console.WriteLine($"{x} {y}");
        Point d = new Point3(1, 2, 3);
        Console.WriteLine($"{d} {d == a} {a == d} {d with { X = 9 }}");
        Console.WriteLine(new Pair<string>("l", "r") == new Pair<string>("l", "r"));
        Console.WriteLine(new Pair<double>(double.NaN, 0.5));
        var p = new Person { Name = "Ada" };
        Console.WriteLine($"{p} {p with { Age = 36 }}");
        Console.WriteLine(new Money(1.50m, "EUR"));
        Console.WriteLine(new HashSet<Point> { a, b, c, d }.Count);
        Console.WriteLine(Describe(a) + Describe(d) + Describe(new Point(0, 7)) + Describe(null));
    }

    static string Describe(Point p) => p switch
    {
        null => "nothing",
        Point3 { Z: > 2 } => "high;",
        (0, var y) => $"on the axis {y};",
        { X: >= 1 and < 10 } => "near;",
        _ => "far;",
    };
}
