// Boxing and unboxing: copies, exact types, enums and their underlying types, equality of boxes.
using System;
using System.Collections;

struct Vector
{
    public double X, Y;
    public void Scale(double f) { X *= f; Y *= f; }
    public override string ToString() { return X + "," + Y; }
}

enum Small : byte { One = 1 }

static class Program
{
    static void Try(string name, Func<object> f)
    {
        try
        {
            Console.WriteLine("{0} = {1}", name, f());
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", name, e.GetType().Name);
        }
    }

    static object Box<T>(T t) { return t; }

    static void Main()
    {
        Vector v = new Vector { X = 1, Y = 2 };
        object o = v;
        v.Scale(10);
        ((Vector)o).Scale(5);
        Console.WriteLine("{0} | {1}", v, o);
        object same = o;
        Console.WriteLine("{0} {1} {2}", ReferenceEquals(o, same), ReferenceEquals(v, v), o.Equals(new Vector { X = 1, Y = 2 }));

        object i = 5, l = 5L, e = Small.One, b = (byte)1;
        Try("(int)i", () => (int)i);
        Try("(long)i", () => (long)i);
        Try("(int)l", () => (int)l);
        Try("(byte)e", () => (byte)e);
        Try("(Small)b", () => (Small)b);
        Try("(Small)e", () => (Small)e);
        Try("(uint)i", () => (uint)i);
        Try("(int?)i", () => (int?)i);
        Try("(long?)i", () => (long?)i);
        Try("(int)null", () => (int)(object)null);
        Try("(int?)null", () => (int?)(object)null ?? -1);
        Try("(IComparable)i", () => ((IComparable)i).CompareTo(4));
        Try("(ValueType)i", () => ((ValueType)i).ToString());
        Try("(Enum)e", () => ((Enum)e).ToString());
        Console.WriteLine("{0} {1} {2} {3}", i.Equals(5), i.Equals(5L), e.Equals(b), ((object)1.0).Equals(1.0));
        Console.WriteLine("{0} {1} {2}", i is int, i is long, e is Enum);
        Console.WriteLine("{0} {1}", Box(3).GetType(), Box<object>(3).GetType());

        int? some = 7, none = null;
        object someBox = some, noneBox = none;
        Console.WriteLine("{0} {1} {2}", someBox.GetType(), noneBox == null, someBox is int?);
        ArrayList list = new ArrayList { 1, 2.5, 'c', "s", null, v };
        foreach (object x in list)
            Console.Write("{0} ", x == null ? "null" : x.GetType().Name);
        Console.WriteLine();
        int sum = 0;
        for (int k = 0; k < 1000; k++)
        {
            object box = k;
            sum += (int)box;
        }
        Console.WriteLine(sum);
        Console.WriteLine("{0} {1} {2}", true.Equals((object)true), 'a'.GetHashCode() == 'a'.GetHashCode(), 5.GetHashCode());
    }
}
