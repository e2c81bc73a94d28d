// Calls on values of a type parameter: on structs without a copy where the method is their own, boxed where inherited.
using System;

interface ICounter
{
    int Increment();
}

struct StructCounter : ICounter
{
    int n;

    public int Increment()
    {
        return ++n;
    }

    public override string ToString()
    {
        return "struct " + ++n;
    }
}

class ClassCounter : ICounter
{
    int n;

    int ICounter.Increment()
    {
        return n += 10;
    }
}

struct Silent
{
    public int X;
}

struct Own : IEquatable<Own>
{
    public int X;
    public bool Equals(Own other) { return X == other.X; }
    public override bool Equals(object o) { return false; }
    public override int GetHashCode() { return 77; }
}

enum Colour { Red, Green }

static class Program
{
    static int Twice<T>(T counter) where T : ICounter
    {
        counter.Increment();
        return counter.Increment();
    }

    static int ByRef<T>(ref T counter) where T : ICounter
    {
        return counter.Increment();
    }

    static string Text<T>(T value)
    {
        return value.ToString() + "," + value.ToString();
    }

    static string TypeName<T>(T value)
    {
        return value.GetType().Name;
    }

    static bool Same<T>(T a, T b) where T : IEquatable<T>
    {
        return a.Equals(b);
    }

    static bool SameObject<T>(T a, T b)
    {
        return a.Equals(b);
    }

    static int Hash<T>(T a)
    {
        return a.GetHashCode();
    }

    static void Main()
    {
        StructCounter s = new StructCounter();
        Console.WriteLine("{0} {1}", Twice(s), Twice(s));
        Console.WriteLine("{0} {1} {2}", ByRef(ref s), ByRef(ref s), ByRef(ref s));
        ClassCounter c = new ClassCounter();
        Console.WriteLine("{0} {1}", Twice(c), ByRef(ref c));
        ICounter boxed = s;
        Console.WriteLine("{0} {1} {2}", Twice(boxed), boxed.Increment(), s.Increment());
        Console.WriteLine("{0} {1}", Text(s), s.Increment());
        Console.WriteLine("{0} {1} {2}", Text(new Silent()), Text(5), Text(Colour.Green));
        Console.WriteLine("{0} {1} {2} {3}", TypeName(s), TypeName(1.5), TypeName("s"), TypeName<object>(Colour.Red));
        Console.WriteLine("{0} {1}", Same(new Own { X = 1 }, new Own { X = 1 }), SameObject(new Own { X = 1 }, new Own { X = 1 }));
        Console.WriteLine("{0} {1}", SameObject(new Silent { X = 1 }, new Silent { X = 1 }), SameObject(new Silent { X = 1 }, new Silent { X = 2 }));
        Console.WriteLine("{0} {1} {2}", Hash(new Own()), Hash(42), Hash(Colour.Green) == Colour.Green.GetHashCode());
        Console.WriteLine("{0} {1} {2}", SameObject(Colour.Red, Colour.Red), SameObject<object>(1, 1), SameObject<object>(1, 1L));
        try
        {
            Text<string>(null);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("null receiver");
        }
        int? none = null, some = 3;
        Console.WriteLine("[{0}] [{1}]", Text(none), Text(some));
        try
        {
            TypeName(none);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("GetType of an empty Nullable boxes to null");
        }
    }
}
