// Generic methods: inference, virtual and interface generic methods, shared code that needs its type arguments.
using System;
using System.Collections.Generic;

interface IVisitor
{
    string Visit<T>(T value);
}

abstract class Shape
{
    public abstract string Accept<T>(T visitor) where T : IVisitor;

    public virtual string Tag<T>()
    {
        return "shape of " + typeof(T).Name;
    }
}

class Circle : Shape
{
    public override string Accept<T>(T visitor)
    {
        return visitor.Visit(this) + visitor.Visit(3) + visitor.Visit("r");
    }

    public override string Tag<T>()
    {
        return "circle of " + typeof(T).Name + ", " + base.Tag<T[]>();
    }
}

class Namer : IVisitor
{
    string IVisitor.Visit<T>(T value)
    {
        return "[" + typeof(T).Name + " " + (value is Shape ? "shape" : value.ToString()) + "]";
    }
}

struct CountingVisitor : IVisitor
{
    public int Count;

    public string Visit<T>(T value)
    {
        Count++;
        return Count.ToString();
    }
}

class Holder<T>
{
    public virtual U Convert<U>(T value, Func<T, U> f)
    {
        return f(value);
    }

    public KeyValuePair<T, U> Pair<U>(T t, U u)
    {
        return new KeyValuePair<T, U>(t, u);
    }
}

class LoudHolder<T> : Holder<T>
{
    public override U Convert<U>(T value, Func<T, U> f)
    {
        Console.Write("<{0},{1}> ", typeof(T).Name, typeof(U).Name);
        return base.Convert(value, f);
    }
}

static class Program
{
    static T Identity<T>(T value)
    {
        return value;
    }

    static void Swap<T>(ref T a, ref T b)
    {
        T t = a;
        a = b;
        b = t;
    }

    static string Nested<T>(int depth)
    {
        return depth == 0 ? typeof(T).ToString() : Nested<List<T>>(depth - 1);
    }

    static T[] Fill<T>(int n, T value)
    {
        T[] array = new T[n];
        for (int i = 0; i < n; i++)
            array[i] = value;
        return array;
    }

    static bool Is<T>(object o)
    {
        return o is T;
    }

    static T As<T>(object o) where T : class
    {
        return o as T;
    }

    static T Cast<T>(object o)
    {
        return (T)o;
    }

    static string Describe<T>(T value)
    {
        if (value == null)
            return "null " + typeof(T).Name;
        return value.ToString() + value.GetHashCode().Equals(value.GetHashCode()) + value.Equals(value);
    }

    static TResult Apply<T1, T2, TResult>(T1 a, T2 b, Func<T1, T2, TResult> f)
    {
        return f(a, b);
    }

    static string Overload(object o) { return "object"; }
    static string Overload<T>(T t) { return "T=" + typeof(T).Name; }
    static string Overload<T>(List<T> t) { return "List of " + typeof(T).Name; }

    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", Identity(5), Identity("s"), Identity(2.5m));
        int x = 1, y = 2;
        Swap(ref x, ref y);
        string s = "s", t = "t";
        Swap(ref s, ref t);
        Console.WriteLine("{0}{1}{2}{3}", x, y, s, t);
        Console.WriteLine(Nested<string>(3));
        Console.WriteLine("{0} {1}", Fill(3, "x").GetType(), Fill(2, 1.5).GetType());
        Console.WriteLine("{0} {1} {2} {3}", Is<int>(5), Is<string>(5), Is<IComparable>("s"), Is<List<int>>(new List<int>()));
        Console.WriteLine("{0} {1}", As<string>("s"), As<string>(5) == null);
        Console.WriteLine("{0} {1}", Cast<int>(7), Cast<string>("c"));
        try
        {
            Cast<string>(7);
        }
        catch (InvalidCastException)
        {
            Console.WriteLine("InvalidCastException");
        }
        try
        {
            Cast<int>(null);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("NullReferenceException");
        }
        Console.WriteLine("{0} {1} {2} {3}", Describe(5), Describe("x"), Describe<string>(null), Describe<int?>(null));
        Console.WriteLine(Apply(2, "ab", (n, text) => text.Length * n));
        Console.WriteLine("{0} {1} {2}", Overload(1), Overload((object)1), Overload(new List<int>()));

        Shape shape = new Circle();
        Console.WriteLine(shape.Accept(new Namer()));
        Console.WriteLine(shape.Accept(new CountingVisitor()));
        Console.WriteLine(shape.Accept<IVisitor>(new CountingVisitor()));
        Console.WriteLine("{0}; {1}", shape.Tag<int>(), shape.Tag<string>());
        IVisitor visitor = new Namer();
        Console.WriteLine(visitor.Visit(new[] { 1 }.Length) + visitor.Visit<object>("o"));

        Holder<string> holder = new LoudHolder<string>();
        Console.WriteLine(holder.Convert("abc", v => v.Length));
        Console.WriteLine(holder.Convert("abc", v => v + v));
        Holder<int> numbers = new LoudHolder<int>();
        Console.WriteLine(numbers.Convert(3, v => v * 1.5m));
        Console.WriteLine(holder.Pair("k", 5));
        Console.WriteLine(numbers.Pair(1, new[] { "v" }).Value[0]);
        Func<int, int> f = Identity<int>;
        Func<string, string> g = Identity<string>;
        Console.WriteLine("{0} {1}", f(4), g("g"));
    }
}
