// Class virtual methods: override, new slot, sealed, base calls, calls from constructors, covariance of names.
using System;

class A
{
    public string Log = "";
    public A() { Log += "A:" + Name() + ";"; }
    public virtual string Name() { return "A"; }
    public virtual string Slot() { return "A.Slot"; }
    public string NonVirtual() { return "A.NonVirtual"; }
    public virtual string Property { get { return "A.get"; } set { Log += "A.set" + value; } }
    public override string ToString() { return "[" + Name() + "]"; }
}

class B : A
{
    readonly string field = "initialised";
    public B() { Log += "B:" + field + ";"; }
    public override string Name() { return "B" + (field ?? "null") + base.Name(); }
    public new virtual string Slot() { return "B.Slot"; }
    public new string NonVirtual() { return "B.NonVirtual"; }
    public override string Property { set { base.Property = value + "!"; } }
}

class C : B
{
    public sealed override string Name() { return "C" + base.Name(); }
    public override string Slot() { return "C.Slot"; }
    public override string Property { get { return "C.get/" + base.Property; } }
}

abstract class Node
{
    public abstract int Eval();
}

sealed class Constant : Node
{
    readonly int value;
    public Constant(int value) { this.value = value; }
    public override int Eval() { return value; }
}

sealed class Sum : Node
{
    readonly Node left, right;
    public Sum(Node left, Node right) { this.left = left; this.right = right; }
    public override int Eval() { return left.Eval() + right.Eval(); }
}

static class Program
{
    static Node Build(int depth)
    {
        return depth == 0 ? (Node)new Constant(1) : new Sum(Build(depth - 1), Build(depth - 1));
    }

    static void Main()
    {
        A a = new A(), ab = new B(), ac = new C();
        B bc = (C)ac;
        foreach (A x in new[] { a, ab, ac })
        {
            Console.WriteLine("{0} {1} {2} {3} {4}", x.Log, x.Name(), x.Slot(), x.NonVirtual(), x);
            x.Log = "";
            x.Property = "v";
            Console.WriteLine("{0} {1}", x.Log, x.Property);
        }
        Console.WriteLine("{0} {1} {2}", ((B)ab).Slot(), bc.Slot(), bc.NonVirtual());
        Console.WriteLine(Build(12).Eval());
        object o = new C();
        Console.WriteLine("{0} {1} {2}", o is A, o is B, o.GetType().BaseType.BaseType.BaseType);
        Console.WriteLine("{0} {1}", new object().Equals(null), new object().ToString());
        Func<string> f = ac.Name;
        Console.WriteLine(f());
        A none = null;
        try
        {
            none.NonVirtual();
            Console.WriteLine("not reached");
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("callvirt checks for null");
        }
    }
}
