// Callers, vtables and interface slots that were made before a method was compiled must reach it as those made later do:
// inherited, overridden, abstract, generic, through interfaces, on value types, in static constructors and tail positions.
using System;
using System.Runtime.CompilerServices;

interface IShape { int Area(); string Name { get; } }

abstract class Shape : IShape
{
    public abstract int Area();
    public virtual string Name { get { return "shape"; } }
    public override string ToString() { return Name + " " + Area(); }
    public virtual T Same<T>(T value) { return value; }
}

class Square : Shape
{
    public int Side = 2;
    public override int Area() { return Side * Side; }
}

class Named : Square
{
    public override string Name { get { return "named"; } }
    public override T Same<T>(T value) { return default(T); }
}

class Hidden : Named
{
    public new virtual string Name { get { return "hidden"; } }
}

class Explicit : Named, IShape
{
    int IShape.Area() { return -1; }
}

struct Point : IShape
{
    public int X;
    public int Area() { return X++; }
    public string Name { get { return "point"; } }
}

class Late : Named
{
    public static readonly int Order = ++Program.Order;
    public override int Area() { return 100 + Order; }
}

static class Program
{
    public static int Order;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Area(Shape shape) { return shape.Area(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Describe(IShape shape) { return shape.Name + shape.Area(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Even(int n) { return n == 0 ? 1 : Odd(n - 1); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Odd(int n) { return n == 0 ? 0 : Even(n - 1); }

    // Many calls of one callee, at many places in the code.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Leaf(int a, long b, double c, string d) { return a + b + (long)c + d.Length; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Many(int n)
    {
        long sum = Leaf(n, 1, 1.5, "a");
        if (n > 1)
            sum += Leaf(n, sum, 2.5, "bb") * 3;
        try
        {
            sum ^= Leaf(1, sum, n, "ccc");
            if ((n & 1) == 0)
                throw new InvalidOperationException();
            sum += Leaf(2, n, sum, "");
        }
        catch (InvalidOperationException)
        {
            sum -= Leaf(3, 4, 5, "dddd");
        }
        finally
        {
            sum += Leaf((int)(sum & 7), n, 0, "e");
        }
        return sum + Leaf(n, n, n, "ff") + Leaf(1, 2, 3, "g");
    }

    static void Main()
    {
        Shape[] early = { new Square(), new Named(), new Hidden(), new Explicit() };
        for (int round = 0; round < 3; round++)
        {
            foreach (Shape shape in early)
                Console.WriteLine("{0} {1} {2} {3} {4}", shape, Area(shape), Describe(shape), shape.Same(7), shape.Same("s"));
            Console.WriteLine(Describe(new Point { X = 5 }));
            object boxed = new Point { X = 8 };
            Console.WriteLine(Describe((IShape)boxed) + Describe((IShape)boxed));
            Console.WriteLine("{0} {1}", Even(9), Even(1000));
            Console.WriteLine("{0} {1} {2}", Many(1), Many(2), Many(3));
        }
        Shape late = new Late();
        Console.WriteLine("{0} {1} {2}", late, Area(late), Describe(late));
        Func<int> area = late.Area;
        Func<string> name = ((Shape)new Hidden()).ToString;
        Console.WriteLine("{0} {1} {2}", area(), name(), area.Method.Name);
    }
}
