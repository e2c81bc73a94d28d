// Values exist without a constructor call: any method of a value type makes its class constructor run. ECMA-335 II.10.5.3.1.
using System;

struct Plain
{
    static Plain() { Console.WriteLine("Plain is ready"); }
    public int X;
    public int Get() { return X; }
}

struct WithProperty
{
    static WithProperty() { Console.WriteLine("WithProperty is ready"); }
    int x;
    public int X { get { return x; } }
}

struct Boxed : IComparable<int>
{
    static Boxed() { Console.WriteLine("Boxed is ready"); }
    public int CompareTo(int other) { return 7; }
}

struct Overriding
{
    static Overriding() { Console.WriteLine("Overriding is ready"); }
    public override string ToString() { return "text"; }
}

struct OnlyFields
{
    static OnlyFields() { Console.WriteLine("not reached"); }
    public int X;
}

class Reference
{
    static Reference() { Console.WriteLine("Reference is ready"); }
    public int Get() { return 3; }
}

static class Program
{
    static void Main()
    {
        Console.WriteLine("start");
        Plain plain = default(Plain);
        plain.X = 4;
        Console.WriteLine("made");
        Console.WriteLine(plain.Get());
        Console.WriteLine(default(WithProperty).X);
        IComparable<int> boxed = default(Boxed);
        Console.WriteLine("boxed");
        Console.WriteLine(boxed.CompareTo(1));
        object overriding = default(Overriding);
        Console.WriteLine("an object");
        Console.WriteLine(overriding.ToString());
        OnlyFields fields = default(OnlyFields);
        fields.X = 5;
        Console.WriteLine(fields.X);
        Console.WriteLine(new Reference().Get());
    }
}
