// Static constructors: precise ones run at first use, once, in order; cycles see unfinished state.
using System;

class Precise
{
    public static int Value = Log("Precise.field");
    static Precise() { Log("Precise.cctor"); }
    public static void Touch() { Console.WriteLine("Precise.Touch"); }
    public static int Log(string s) { Console.WriteLine(s); return 5; }
    public int Instance = 3;
}

class Derived : Precise
{
    static Derived() { Log("Derived.cctor"); }
    public static int Own = 1;
    public static void Call() { Console.WriteLine("Derived.Call"); }
}

class CycleA
{
    public static int X;
    static CycleA() { X = CycleB.Y + 1; }
}

class CycleB
{
    public static int Y;
    static CycleB() { Y = CycleA.X + 10; }
}

class Generic<T>
{
    public static readonly string Name;
    static Generic() { Name = typeof(T).Name; Console.WriteLine("Generic<" + Name + ">.cctor"); }
    public static void Touch() { }
}

struct WithCctor
{
    public static int Count;
    public int N;
    static WithCctor() { Console.WriteLine("WithCctor.cctor"); Count = 1; }
    public WithCctor(int n) { N = n + Count; }
}

class Lazy
{
    static class Holder
    {
        internal static readonly Lazy Instance = new Lazy();
        static Holder() { Console.WriteLine("Holder.cctor"); }
    }

    public static Lazy Instance { get { return Holder.Instance; } }
}

class Constants
{
    public const int Number = 42;
    public const string Text = "constant";
    public const decimal Exact = 1.25m;
    static Constants() { Console.WriteLine("Constants.cctor"); }
    public static readonly DateTime Date = new DateTime(2000, 1, 2);
}

class InMethod
{
    static InMethod() { Console.WriteLine("InMethod.cctor"); }
    public static int Next;
}

static class Program
{
    static Program() { Console.WriteLine("Program.cctor"); }

    static int Loop(bool use)
    {
        int sum = 0;
        for (int i = 0; i < 5; i++)
        {
            if (use && i == 3)
                sum += ++InMethod.Next;
            sum++;
        }
        return sum;
    }

    static void Main()
    {
        Console.WriteLine("Main");
        Derived.Call();
        Precise.Touch();
        new Derived();
        Console.WriteLine(Derived.Own);
        Console.WriteLine("{0} {1}", CycleA.X, CycleB.Y);
        Generic<int>.Touch();
        Generic<string>.Touch();
        Generic<int>.Touch();
        Console.WriteLine(Generic<object>.Name);
        WithCctor d = default(WithCctor);
        Console.WriteLine(d.N);
        Console.WriteLine(new WithCctor(4).N);
        Console.WriteLine(Lazy.Instance == Lazy.Instance);
        Console.WriteLine("{0} {1} {2}", Constants.Number, Constants.Text, Constants.Exact);
        Console.WriteLine("after constants");
        Console.WriteLine(Constants.Date.Year);
        Console.WriteLine(Loop(false));
        Console.WriteLine(Loop(true));
        Console.WriteLine(Loop(true));
    }
}
