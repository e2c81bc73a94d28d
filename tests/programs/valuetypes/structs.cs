// Structs by value: copies on assignment, passing in and out of every size, nested mutation, layout, equality.
using System;
using System.Runtime.InteropServices;

struct One { public byte A; }
struct Eight { public int A, B; }
struct Twelve { public int A, B, C; }
struct Sixteen { public long A; public double B; }
struct Floats { public float A, B, C, D; }
struct Huge { public long A, B, C, D, E, F, G, H; public string S; }
struct Line { public Eight From, To; public string Name; }

struct Mutable
{
    public int N;
    public Mutable Next() { N++; return this; }
    public int Bump() { return ++N; }
    public static Mutable operator +(Mutable a, int b) { a.N += b; return a; }
    public static implicit operator Mutable(int n) { return new Mutable { N = n }; }
    public static explicit operator int(Mutable m) { return m.N; }
    public static bool operator ==(Mutable a, Mutable b) { return a.N == b.N; }
    public static bool operator !=(Mutable a, Mutable b) { return a.N != b.N; }
    public override bool Equals(object o) { return o is Mutable && ((Mutable)o).N == N; }
    public override int GetHashCode() { return N; }
}

[StructLayout(LayoutKind.Explicit)]
struct Union
{
    [FieldOffset(0)] public long Long;
    [FieldOffset(0)] public double Double;
    [FieldOffset(0)] public byte First;
    [FieldOffset(4)] public int Upper;
    [FieldOffset(8)] public object Reference;
}

[StructLayout(LayoutKind.Sequential, Pack = 1)]
struct Packed { public byte A; public long B; }

static class Program
{
    static readonly Mutable ReadOnly = 10;
    static Line shared;

    static One F(One x, int n) { x.A += (byte)n; return x; }
    static Eight F(Eight x, int n) { x.A += n; return x; }
    static Twelve F(Twelve x, int n) { x.C += n; return x; }
    static Sixteen F(Sixteen x, int n) { x.B += n; return x; }
    static Floats F(Floats x, int n) { x.D += n; return x; }
    static Huge F(Huge x, int n) { x.H += n; x.S += n; return x; }
    static double Mixed(One a, double d, Floats b, int i, Huge c, Sixteen s, float f, Eight e)
    {
        return a.A + d + b.D + i + c.H + s.B + f + e.B;
    }

    static void Set(out Line line) { line = new Line { Name = "out" }; line.To.B = 3; }
    static void Change(ref Eight e) { e.A = -1; e = new Eight { A = e.A, B = 5 }; }

    static void Main()
    {
        Console.WriteLine(F(new One { A = 250 }, 10).A);
        Console.WriteLine(F(new Eight { A = 1 }, 10).A);
        Console.WriteLine(F(new Twelve { C = 1 }, 10).C);
        Console.WriteLine(F(new Sixteen { A = 1, B = 0.5 }, 10).B);
        Console.WriteLine(F(new Floats { D = 0.25f }, 10).D);
        Huge h = new Huge { H = 7, S = "s" };
        Huge h2 = F(h, 10);
        Console.WriteLine("{0}{1} {2}{3}", h.H, h.S, h2.H, h2.S);
        Console.WriteLine(Mixed(new One { A = 1 }, 0.5, new Floats { D = 2 }, 3, new Huge { H = 4 }, new Sixteen { B = 5 }, 6.25f, new Eight { B = 7 }));

        Line line;
        Set(out line);
        shared = line;
        shared.To.B++;
        Change(ref shared.From);
        Console.WriteLine("{0} {1} {2} {3}", line.To.B, shared.To.B, shared.From.A, shared.From.B);
        Line[] lines = new Line[2];
        lines[1].From.A = 9;
        Change(ref lines[0].From);
        Console.WriteLine("{0} {1} {2}", lines[0].From.B, lines[1].From.A, lines[1].Name == null);

        Mutable m = 5;
        m.Next().Next();
        Console.WriteLine("{0} {1}", m.N, ReadOnly.Bump() + ReadOnly.Bump());
        m += 10;
        Mutable copy = m;
        copy.Bump();
        Console.WriteLine("{0} {1} {2} {3}", m.N, (int)copy, m == copy, m.Equals((object)(copy + -1)));

        Union u = new Union();
        u.Double = 1.0;
        u.Reference = "kept";
        Console.WriteLine("{0:x} {1:x} {2} {3}", u.Long, u.Upper, u.First, u.Reference);
        u.First = 0xff;
        Console.WriteLine("{0:x}", u.Long);
        Console.WriteLine("{0} {1} {2}", Marshal.SizeOf(typeof(Packed)), Marshal.SizeOf(typeof(Sixteen)), Marshal.OffsetOf(typeof(Packed), "B"));
        Packed packed = new Packed { A = 1, B = long.MinValue };
        Console.WriteLine("{0} {1}", packed.A, packed.B);

        Console.WriteLine("{0} {1}", new Line { Name = "a" }.Equals(new Line { Name = "a" }), new Line { Name = "a" }.Equals(new Line { Name = "b" }));
        Console.WriteLine("{0} {1}", new Sixteen { B = 0.0 }.Equals(new Sixteen { B = 0.0 }), default(Huge).S == null);
        ValueTuple<int, string> pair = (1, "x");
        int number, q, r;
        string word;
        number = pair.Item1;
        word = pair.Item2;
        Console.WriteLine("{0} {1} {2}", number, word, pair.Equals((1, "x")));
        (int Quotient, int Remainder) division = DivRem(17, 5);
        q = division.Quotient;
        r = division.Remainder;
        Console.WriteLine("{0} {1} {2}", q, r, (q, r));
    }

    static (int Quotient, int Remainder) DivRem(int a, int b) { return (a / b, a % b); }
}
