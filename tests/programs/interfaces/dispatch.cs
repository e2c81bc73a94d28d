// Interface dispatch: explicit and implicit implementation, re-implementation, many interfaces, structs, base calls.
using System;

interface IA { string M(); }
interface IB { string M(); }
interface IC : IA, IB { string N { get; } }
interface IGet<T> { T Get(); }

class Explicit : IC
{
    string IA.M() { return "IA.M"; }
    string IB.M() { return "IB.M"; }
    public string M() { return "M"; }
    public virtual string N { get { return "N"; } }
}

class Derived : Explicit
{
    public new string M() { return "hidden M"; }
    public override string N { get { return "derived N"; } }
}

class Reimplemented : Explicit, IA
{
    public new string M() { return "new IA.M"; }
}

abstract class Abstract : IA
{
    public abstract string M();
}

class Concrete : Abstract
{
    public override string M() { return "concrete"; }
}

class Inherits
{
    public string M() { return "from a base that does not know IA"; }
}

class Uses : Inherits, IA { }

class Multi : IGet<int>, IGet<string>, IGet<object>
{
    int IGet<int>.Get() { return 1; }
    string IGet<string>.Get() { return "two"; }
    object IGet<object>.Get() { return 3.5m; }
}

struct Point : IA, IComparable<Point>
{
    public int X;
    public string M() { return "point " + X++; }
    public int CompareTo(Point other) { return X - other.X; }
}

interface I0 { int F(); } interface I1 { int F(); } interface I2 { int F(); } interface I3 { int F(); } interface I4 { int F(); }
interface I5 { int F(); } interface I6 { int F(); } interface I7 { int F(); } interface I8 { int F(); } interface I9 { int F(); }
interface J0 { int F(); } interface J1 { int F(); } interface J2 { int F(); } interface J3 { int F(); } interface J4 { int F(); }
interface J5 { int F(); } interface J6 { int F(); } interface J7 { int F(); } interface J8 { int F(); } interface J9 { int F(); }

class Many : I0, I1, I2, I3, I4, I5, I6, I7, I8, I9, J0, J1, J2, J3, J4, J5, J6, J7, J8, J9
{
    int I0.F() { return 0; } int I1.F() { return 1; } int I2.F() { return 2; } int I3.F() { return 3; } int I4.F() { return 4; }
    int I5.F() { return 5; } int I6.F() { return 6; } int I7.F() { return 7; } int I8.F() { return 8; } int I9.F() { return 9; }
    int J0.F() { return 10; } int J1.F() { return 11; } int J2.F() { return 12; } int J3.F() { return 13; } int J4.F() { return 14; }
    int J5.F() { return 15; } int J6.F() { return 16; } int J7.F() { return 17; } int J8.F() { return 18; } int J9.F() { return 19; }
}

static class Program
{
    static void Main()
    {
        foreach (Explicit e in new[] { new Explicit(), new Derived(), new Reimplemented() })
            Console.WriteLine("{0}: {1} {2} {3} {4}", e.GetType().Name, ((IA)e).M(), ((IB)e).M(), e.M(), ((IC)e).N);
        foreach (IA a in new IA[] { new Concrete(), new Uses(), new Point { X = 4 } })
            Console.WriteLine(a.M());
        object multi = new Multi();
        Console.WriteLine("{0} {1} {2}", ((IGet<int>)multi).Get(), ((IGet<string>)multi).Get(), ((IGet<object>)multi).Get());

        Point p = new Point { X = 1 };
        IA boxed = p;
        Console.WriteLine("{0} {1} {2} {3}", p.M(), boxed.M(), boxed.M(), p.X);
        Point unboxed = (Point)boxed;
        Console.WriteLine("{0} {1}", unboxed.X, ((IComparable<Point>)p).CompareTo(unboxed));

        Many many = new Many();
        int sum = 0;
        sum = sum * 3 + ((I0)many).F() + ((I1)many).F() + ((I2)many).F() + ((I3)many).F() + ((I4)many).F();
        sum = sum * 3 + ((I5)many).F() + ((I6)many).F() + ((I7)many).F() + ((I8)many).F() + ((I9)many).F();
        sum = sum * 3 + ((J0)many).F() + ((J1)many).F() + ((J2)many).F() + ((J3)many).F() + ((J4)many).F();
        sum = sum * 3 + ((J5)many).F() + ((J6)many).F() + ((J7)many).F() + ((J8)many).F() + ((J9)many).F();
        Console.WriteLine(sum);

        object o = "not IA";
        Console.WriteLine("{0} {1}", o is IA, (o as IA) == null);
        try
        {
            ((IA)o).M();
        }
        catch (InvalidCastException)
        {
            Console.WriteLine("InvalidCastException");
        }
        IA none = null;
        try
        {
            none.M();
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("NullReferenceException");
        }
        IA[] mixed = { new Concrete(), new Uses(), new Explicit(), new Derived() };
        int length = 0;
        for (int i = 0; i < 100000; i++)
            length += mixed[i & 3].M().Length;
        Console.WriteLine(length);
    }
}
