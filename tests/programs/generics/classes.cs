// Generic classes: statics per instantiation, constraints, default values, nesting, type identity.
using System;
using System.Collections.Generic;

class Counter<T>
{
    public static int Created;
    public static readonly string Name = typeof(T).Name;
    [ThreadStatic] public static int PerThread;
    public T Value;

    public Counter()
    {
        Created++;
        PerThread += 2;
    }

    public class Inner<U>
    {
        public static int Hits;

        public string Describe()
        {
            Hits++;
            return typeof(T).Name + "/" + typeof(U).Name;
        }
    }
}

class Factory<T> where T : class, new()
{
    public T Make()
    {
        return new T();
    }
}

class StructFactory<T> where T : struct
{
    public T? Maybe(bool yes)
    {
        return yes ? new T() : (T?)null;
    }
}

class Comparer2<T> where T : IComparable<T>
{
    public static T Max(T a, T b)
    {
        return a.CompareTo(b) >= 0 ? a : b;
    }
}

class Base<T>
{
    public virtual string Who(T t)
    {
        return "Base<" + typeof(T).Name + ">(" + t + ")";
    }
}

class Derived<A, B> : Base<List<A>>
{
    public override string Who(List<A> t)
    {
        return "Derived " + typeof(B).Name + " over " + base.Who(null) + t.Count;
    }
}

class Recursive<T> where T : Recursive<T>
{
    public static int N = 1;
}

class Self : Recursive<Self> { }

struct Wrapper<T>
{
    public T Item;
    public int Count;

    public Wrapper<T> With(T item)
    {
        return new Wrapper<T> { Item = item, Count = Count + 1 };
    }
}

static class Program
{
    static void Main()
    {
        new Counter<int>();
        new Counter<int>();
        new Counter<string>();
        new Counter<object>();
        new Counter<object>();
        new Counter<object>();
        Console.WriteLine("{0} {1} {2} {3}", Counter<int>.Created, Counter<string>.Created, Counter<object>.Created, Counter<long>.Created);
        Console.WriteLine("{0} {1} {2}", Counter<int>.Name, Counter<string>.Name, Counter<List<string>>.Name);
        Console.WriteLine("{0} {1}", Counter<int>.PerThread, Counter<object>.PerThread);
        Console.WriteLine(new Counter<int>.Inner<string>().Describe());
        Console.WriteLine(new Counter<string>.Inner<string>().Describe());
        Console.WriteLine(new Counter<object>.Inner<string>().Describe());
        Console.WriteLine("{0} {1}", Counter<int>.Inner<string>.Hits, Counter<int>.Inner<object>.Hits);

        Console.WriteLine(new Factory<List<int>>().Make().Count);
        Console.WriteLine(new Factory<object>().Make().GetType());
        Console.WriteLine("{0} {1}", new StructFactory<int>().Maybe(true), new StructFactory<DateTime>().Maybe(false).HasValue);
        Console.WriteLine("{0} {1} {2}", Comparer2<int>.Max(3, 5), Comparer2<string>.Max("a", "b"), Comparer2<double>.Max(1.5, -2) == 1.5);
        Base<List<string>> b = new Derived<string, int>();
        Console.WriteLine(b.Who(new List<string> { "x" }));
        Base<List<int>> c = new Derived<int, string>();
        Console.WriteLine(c.Who(new List<int> { 1, 2 }));
        Console.WriteLine(Recursive<Self>.N);

        Wrapper<string> w = new Wrapper<string>().With("a").With("b");
        Console.WriteLine("{0} {1}", w.Item, w.Count);
        Wrapper<Wrapper<long>> nested = new Wrapper<Wrapper<long>>().With(new Wrapper<long>().With(7));
        Console.WriteLine("{0} {1}", nested.Item.Item, nested.Item.Count);
        Wrapper<decimal>[] array = new Wrapper<decimal>[2];
        array[1] = array[1].With(2.5m);
        Console.WriteLine("{0} {1}", array[1].Item, array[0].Count);

        Console.WriteLine(typeof(Dictionary<string, List<int>>));
        Console.WriteLine("{0} {1}", typeof(List<int>) == typeof(List<int>), typeof(List<int>) == typeof(List<uint>));
        Console.WriteLine("{0} {1}", typeof(List<>).MakeGenericType(typeof(int)) == typeof(List<int>), typeof(Counter<>.Inner<>));
        object list = new List<string>();
        Console.WriteLine("{0} {1} {2}", list is List<string>, list is List<object>, list is IEnumerable<object>);
        Console.WriteLine("{0} {1} {2}", default(int), default(string) == null, default(Wrapper<int>).Count);
    }
}
