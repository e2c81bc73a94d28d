// Virtual calls and calls of delegates that nearly always run the same method, and then run others: results, order of
// arguments, exceptions and their traces are those of the calls as they stand.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

interface IShape { int Area(int scale); Pair Corner(int x, Pair p); string Name { get; } }
interface IVisitor<T> { void Visit(T item); T Last { get; } }
struct Pair { public long A; public string B; public Pair(long a, string b) { A = a; B = b; } public override string ToString() { return A + B; } }
struct Wide { public long A, B, C, D; public object O; }

class Square : IShape
{
    protected int side = 3;
    public virtual int Area(int scale) { return side * side * scale; }
    public Pair Corner(int x, Pair p) { p.A += x; return new Pair(p.A * side, p.B); }
    public string Name { get { return "square"; } }
}

class Bigger : Square { public override int Area(int scale) { return base.Area(scale) + 1; } }

class Circle : IShape
{
    public int Area(int scale) { if (scale == 77) throw new InvalidOperationException("circle " + scale); return 3 * scale; }
    public Pair Corner(int x, Pair p) { return new Pair(x, "circle" + p.B); }
    public string Name { get { return "circle"; } }
}

struct Dot : IShape
{
    public int Size;
    public int Area(int scale) { Size += scale; return Size; }
    public Pair Corner(int x, Pair p) { p.A = Size; return p; }
    public string Name { get { return "dot"; } }
}

class Keeper<T> : IVisitor<T> { T last; public int Seen; public void Visit(T item) { last = item; Seen++; } public T Last { get { return last; } } }

abstract class Node { public abstract Wide Value(int depth, Wide w); public virtual T Id<T>(T value) { return value; } }
class Leaf : Node { public override Wide Value(int depth, Wide w) { w.A += depth; w.O = this; return w; } }
class Inner : Node
{
    public Node Left = new Leaf();
    public override Wide Value(int depth, Wide w) { w.D--; return Left.Value(depth + 1, w); }
    public override T Id<T>(T value) { Console.Write("inner "); return value; }
}

static class Program
{
    const int Rounds = 400000;
    static int steps;
    static int Step(int x) { steps = steps * 31 + x; return x; }

    static long Areas(IShape shape, int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) sum += shape.Area(i & 7);
        return sum;
    }

    static Pair Corners(IShape shape, Pair p, int rounds)
    {
        for (int i = 0; i < rounds; i++) { p = shape.Corner(i & 3, p); p.A &= 0xffff; }
        return p;
    }

    static long Order(IShape shape, int rounds)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) sum += Step(1) + shape.Area(Step(2)) + Step(3);
        return sum;
    }

    static string Caught(IShape shape, int scale)
    {
        try { return shape.Area(scale).ToString(); }
        catch (InvalidOperationException e) { return e.Message; }
        catch (NullReferenceException) { return "null"; }
        finally { steps++; }
    }

    static int Fields(Node node, int rounds)
    {
        Wide w = new Wide { A = 1, D = 9 };
        for (int i = 0; i < rounds; i++) w = node.Value(i, w);
        return (int)(w.A * 31 + w.D) + (w.O == null ? 0 : 1);
    }

    static long Generic<T>(IVisitor<T> visitor, T a, T b, int rounds, Func<T, int> weigh)
    {
        long sum = 0;
        for (int i = 0; i < rounds; i++) { visitor.Visit((i & 1) == 0 ? a : b); sum += weigh(visitor.Last); }
        return sum;
    }

    static int Apply(Func<int, int> f, int rounds)
    {
        int x = 1;
        for (int i = 0; i < rounds; i++) x = f(x) & 0xfffff;
        return x;
    }

    static void Act(Action<Pair> act, int rounds) { for (int i = 0; i < rounds; i++) act(new Pair(i, "a")); }

    static object Covariant(Func<string, object> make, int rounds)
    {
        object made = null;
        for (int i = 0; i < rounds; i++) made = make("x");
        return made;
    }

    static string CaughtCall(Func<int, int> f, int x)
    {
        try { return f(x).ToString(); }
        catch (DivideByZeroException) { return "divided"; }
        catch (NullReferenceException) { return "null"; }
    }

    static int Twice(int x) { return x * 2 + 1; }
    static string Self(object o) { return (string)o + "!"; }
    sealed class Counter { public int Count; public int Add(int x) { Count++; return x + Count; } public void Note(Pair p) { Count += (int)p.A; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(IShape shape, int scale) { shape.Area(scale); }

    static Func<int, int> Emitted(int factor)
    {
        var method = new DynamicMethod("times" + factor, typeof(int), new[] { typeof(int) });
        var il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4, factor); il.Emit(OpCodes.Mul); il.Emit(OpCodes.Ret);
        return (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
    }

    static void Main()
    {
        // One class for long, then others, and a boxed value.
        Console.WriteLine(Areas(new Square(), Rounds) + " " + Areas(new Bigger(), 100) + " " + Areas(new Circle(), 100) + " " + Areas(new Dot(), 100));
        Console.WriteLine(Areas(new Square(), Rounds) + " " + Areas(new Bigger(), Rounds));
        Console.WriteLine(Corners(new Circle(), new Pair(1, "p"), 1000).A + " " + Corners(new Square(), new Pair(1, "p"), Rounds) + " " + Corners(new Dot { Size = 4 }, new Pair(1, "p"), Rounds));
        Console.WriteLine(Order(new Circle(), Rounds) + " " + Order(new Square(), 5) + " " + steps);
        // Null, and exceptions in a protected region.
        for (int i = 0; i < 3000; i++) if (Caught(new Circle(), i % 70) == "null") Console.WriteLine("wrong");
        System.Threading.Thread.Sleep(50);
        Console.WriteLine(Caught(new Circle(), 77) + " " + Caught(null, 1) + " " + Caught(new Square(), 77));
        for (int i = 0; i < 3000; i++) Deep(new Circle(), 1);
        System.Threading.Thread.Sleep(50);
        try { Deep(new Circle(), 77); }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(string.Join(" ", new StackTrace(e).GetFrames().Select(f => f.GetMethod().Name)));
        }
        // Structs in memory, virtual generic methods.
        Console.WriteLine(Fields(new Leaf(), Rounds) + " " + Fields(new Inner(), Rounds));
        Node node = new Leaf();
        for (int i = 0; i < 5000; i++) if (node.Id(i) != i) Console.WriteLine("wrong");
        Console.WriteLine(new Inner().Id("text"));
        var keeper = new Keeper<string>();
        Console.WriteLine(Generic(keeper, "one", "three", Rounds, s => s.Length) + " " + keeper.Seen + " " + Generic(new Keeper<Pair>(), new Pair(1, ""), new Pair(2, ""), Rounds, p => (int)p.A));
        // Delegates: lambdas, static methods, closures, several targets, other signatures, dynamic methods.
        int outer = 5;
        Console.WriteLine(Apply(x => x + 3, Rounds) + " " + Apply(x => x + outer, Rounds) + " " + Apply(Twice, Rounds) + " " + Apply(new Counter().Add, 1000));
        Func<int, int> two = x => { steps += x; return x; };
        two += Twice;
        Console.WriteLine(Apply(two, 1000) + " " + steps);
        Console.WriteLine(Apply(Emitted(3), Rounds) + " " + Apply(Emitted(5), 1000) + " " + Apply(x => x - 1, 1000));
        for (int i = 0; i < 300; i++) { Apply(Emitted(i), 3); if (i % 100 == 0) GC.Collect(); }
        var counter = new Counter();
        Act(counter.Note, 1000); Act(p => counter.Count -= (int)p.A, 1000);
        Console.WriteLine(counter.Count);
        Console.WriteLine(Covariant(Self, Rounds) + " " + Covariant(s => s + "?", 100));
        for (int i = 1; i < 3000; i++) if (CaughtCall(x => 12 / x, i) == "divided") Console.WriteLine("wrong");
        System.Threading.Thread.Sleep(50);
        Console.WriteLine(CaughtCall(x => 12 / x, 0) + " " + CaughtCall(null, 0) + " " + CaughtCall(Twice, 4));
        Expression<Func<int, int>> tree = x => x * 7;
        Console.WriteLine(Apply(tree.Compile(), Rounds));
        var open = (Func<IShape, string>)Delegate.CreateDelegate(typeof(Func<IShape, string>), typeof(IShape).GetProperty("Name").GetGetMethod());
        string names = null;
        for (int i = 0; i < 5000; i++) names = open(i < 4990 ? (IShape)new Square() : new Circle());
        var closed = (Func<string>)Delegate.CreateDelegate(typeof(Func<string>), "bound", typeof(Program).GetMethod("Self", BindingFlags.Static | BindingFlags.NonPublic));
        for (int i = 0; i < 5000; i++) names += i % 1000 == 0 ? closed() : "";
        Console.WriteLine(names);
        Console.WriteLine(Enumerable.Range(0, Rounds).Where(x => x % 3 == 0).Select(x => x * 2L).Sum() + " " + new List<int>(Enumerable.Range(0, 1000)).FindAll(x => x > 990).Count);
    }
}
