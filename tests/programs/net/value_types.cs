using System;
using System.Collections.Generic;

// Equality and hash codes of structs without methods of their own; boxing of Nullable; enumerations.
class ValueTypes
{
    struct Ints { public int A, B; }
    struct Gaps { public byte A; public long B; }
    struct Refs { public string? S; public int N; }
    struct Floats { public double D; public float F; }
    struct Nested { public Ints I; public Refs R; }
    struct Own { public int N; public override bool Equals(object? o) => o is Own; public override int GetHashCode() => 1; }
    struct HasOwn { public Own O; public int M; }
    enum Color : byte { Red, Green = 5 }

    static void Compare<T>(T a, T b, T c) where T : struct =>
        Console.WriteLine($"{typeof(T).Name} {a.Equals(b)} {a.Equals(c)} {a.GetHashCode() == b.GetHashCode()} {a.Equals(null)} {a.Equals("x")}");

    static void Main()
    {
        Compare(new Ints { A = 1, B = 2 }, new Ints { A = 1, B = 2 }, new Ints { A = 1, B = 3 });
        Compare(new Gaps { A = 1, B = 2 }, new Gaps { A = 1, B = 2 }, new Gaps { A = 2, B = 2 });
        Compare(new Refs { S = "a" + 1, N = 1 }, new Refs { S = "a1", N = 1 }, new Refs { S = null, N = 1 });
        Compare(new Floats { D = 0.0, F = 1 }, new Floats { D = -0.0, F = 1 }, new Floats { D = double.NaN });
        Compare(new Nested { I = new Ints { A = 1 }, R = new Refs { S = "s" } }, new Nested { I = new Ints { A = 1 }, R = new Refs { S = "s" } }, default);
        Compare(new HasOwn { O = new Own { N = 1 }, M = 2 }, new HasOwn { O = new Own { N = 3 }, M = 2 }, new HasOwn { M = 3 });
        object boxed = (int?)5;
        int? empty = null;
        Console.WriteLine($"{boxed.GetType()} {(object?)empty == null} {(int?)boxed} {boxed is int?}");
        try { Console.WriteLine((long)boxed); } catch (InvalidCastException e) { Console.WriteLine(e.Message); }
        Console.WriteLine($"{(Color)(object)Color.Green} {Color.Red.Equals(Color.Red)} {Color.Green.GetHashCode()} {(byte)(object)(byte)Color.Green}");
        var set = new HashSet<Refs> { new Refs { S = "k", N = 1 } };
        Console.WriteLine(set.Contains(new Refs { S = "k", N = 1 }));
        var generic = EqualityComparer<KeyValuePair<string, int>>.Default;
        Console.WriteLine(generic.Equals(new("a", 1), new("a", 1)));
        Console.WriteLine($"{(1, "a") == (1, "a")} {(1, "a").GetHashCode() == (1, "a").GetHashCode()}");
        Console.WriteLine($"{System.Runtime.CompilerServices.RuntimeHelpers.GetHashCode(set) == set.GetHashCode()} {new object().Equals(new object())}");
        Console.WriteLine(System.Runtime.CompilerServices.RuntimeHelpers.Equals(new Ints { A = 1 }, new Ints { A = 1 }));
    }
}
