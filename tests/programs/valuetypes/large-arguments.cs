// mcs: -unsafe
// Value types that are too large for variables, as arguments: read where they are when the call is made, copied once, and the callee's to change. From locals, fields, elements, statics and by references, twice
// in one call, changed by the evaluation of a later argument, as the place of the result, in loops, in filters, and to delegates.
using System;
using System.Runtime.CompilerServices;

struct Big
{
    public int A, B, C, D, E, F, G, H, I, J;
    public Big(int n) { A = n; B = n + 1; C = n + 2; D = n + 3; E = n + 4; F = n + 5; G = n + 6; H = n + 7; I = n + 8; J = n + 9; }
    public override string ToString() { return A + ".." + J; }
}

struct Holder { public string Name; public Big First, Second; public object Last; }
struct Mixed { public byte A; public Big B; public short C; public long D; }

class Node
{
    public Big Value;
    public static Big Shared = new Big(1000);
    [MethodImpl(MethodImplOptions.NoInlining)] public virtual int Sum(Big a, Big b) { a.A += 1; b.J -= 1; return a.A + a.J + b.A + b.J; }
}

class Leaf : Node
{
    public override int Sum(Big a, Big b) { return -base.Sum(b, a); }
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)] static int Ends(Big a) { int ends = a.A + a.J; a = new Big(-1); return ends; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Big Next(Big a, int n) { a.A += n; a.E += n; a.J += n; return a; }
    [MethodImpl(MethodImplOptions.NoInlining)] static Big Both(Big a, Big b) { Big sum = new Big(a.A + b.A); sum.J = a.J + b.J; a.A = 7; b.A = 8; return sum; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Change(ref Big a) { a.A += 100; a.J += 100; return 1; }
    [MethodImpl(MethodImplOptions.NoInlining)] static string All(Holder h, Mixed m) { h.First.A = 0; return h.Name + h.First + h.Second + h.Last + m.A + m.B + m.C + m.D; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Deep(Big a, int n) { if (n == 0) return a.A + a.J; a.A++; return Deep(a, n - 1) + a.J; }
    [MethodImpl(MethodImplOptions.NoInlining)] static int Collects(Big a, Holder h) { GC.Collect(); return a.J + h.Name.Length + ((int[])h.Last)[3]; }

    static unsafe int ByPointer(Big* p, int i) { return Ends(p[i]) + Ends(*p); }

    static void Main()
    {
        var big = new Big(1);
        Console.WriteLine(Ends(big) + " " + Ends(big) + " " + big);
        Console.WriteLine(Both(big, big) + " " + big);
        Console.WriteLine(Next(big, Change(ref big)) + " " + big);
        big = Next(big, 1);
        big = Both(big, Next(big, 2));
        Console.WriteLine(big);
        for (int i = 0; i < 5; i++) big = Next(big, i);
        Console.WriteLine(big);
        var array = new[] { new Big(10), new Big(20), new Big(30) };
        Console.WriteLine(Both(array[1], array[2]) + " " + Ends(array[0]) + " " + array[1]);
        array[0] = Next(array[0], 5);
        Console.WriteLine(array[0]);
        var node = new Node { Value = new Big(40) };
        Console.WriteLine(node.Sum(node.Value, Node.Shared) + " " + new Leaf().Sum(node.Value, Node.Shared) + " " + node.Value + " " + Node.Shared);
        Node.Shared = Next(Node.Shared, Change(ref Node.Shared));
        Console.WriteLine(Node.Shared);
        var holder = new Holder { Name = "h", First = big, Second = array[2], Last = new[] { 1, 2, 3, 4 } };
        var mixed = new Mixed { A = 1, B = array[1], C = 2, D = 3 };
        Console.WriteLine(All(holder, mixed) + " " + holder.First + " " + Ends(holder.Second) + " " + Ends(mixed.B));
        Console.WriteLine(Collects(holder.First, holder) + " " + Deep(big, 20) + " " + big);
        Func<Big, Big, Big> both = Both;
        Func<Big, int> captured = b => { b.A = 0; return b.J + big.A; };
        Func<Big, Big, int> sum = node.Sum;
        both += (a, b) => { a.A = b.A; return a; };
        Console.WriteLine(both(array[1], array[2]) + " " + captured(array[1]) + " " + sum(array[1], big) + " " + array[1]);
        unsafe { fixed (Big* p = array) Console.WriteLine(ByPointer(p, 2)); }
        try { throw new Exception(); }
        catch (Exception) when (Ends(big) == Ends(Next(big, 0)) && Ends(array[1]) == 49) { Console.WriteLine("filter " + Ends(big)); }
        Big[] none = null;
        try { Ends(none[0]); } catch (NullReferenceException) { Console.WriteLine("null array"); }
        try { Ends(array[3]); } catch (IndexOutOfRangeException) { Console.WriteLine("no element"); }
        try { node = null; Ends(node.Value); } catch (NullReferenceException) { Console.WriteLine("null object"); }
    }
}
