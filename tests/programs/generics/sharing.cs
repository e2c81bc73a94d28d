// The same generic code over references, primitives and structs of several sizes gives each its own behaviour.
using System;
using System.Collections.Generic;

struct Small { public byte B; }
struct Mid { public int I; public long L; }
struct Large { public decimal A, B; public string S; public int N; }

class Stack<T>
{
    T[] items = new T[1];
    int count;

    public void Push(T item)
    {
        if (count == items.Length)
        {
            T[] bigger = new T[count * 2];
            Array.Copy(items, bigger, count);
            items = bigger;
        }
        items[count++] = item;
    }

    public T Pop()
    {
        if (count == 0)
            throw new InvalidOperationException("empty stack of " + typeof(T).Name);
        T item = items[--count];
        items[count] = default(T);
        return item;
    }

    public ref T Top { get { return ref items[count - 1]; } }

    public static Func<T> Maker(T value)
    {
        return () => value;
    }

    public IEnumerable<T> Drain()
    {
        while (count > 0)
            yield return Pop();
    }
}

static class Program
{
    static void Exercise<T>(T a, T b, Func<T, string> show)
    {
        Stack<T> stack = new Stack<T>();
        for (int i = 0; i < 3; i++)
        {
            stack.Push(a);
            stack.Push(b);
        }
        stack.Top = a;
        Console.Write("{0}: {1}", typeof(T).Name, show(Stack<T>.Maker(b)()));
        foreach (T item in stack.Drain())
            Console.Write(" " + show(item));
        try
        {
            stack.Pop();
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(" " + e.Message);
        }
        object boxed = a;
        T back = (T)boxed;
        Dictionary<string, T> table = new Dictionary<string, T> { { "a", back } };
        T found;
        Console.WriteLine("  {0} {1} {2}", show(table["a"]), table.TryGetValue("b", out found), EqualityComparer<T>.Default.Equals(a, back));
    }

    static void Main()
    {
        Exercise("one", "two", s => s);
        Exercise(1, 2, i => i.ToString());
        Exercise(1.5, 2.5, d => (d * 2).ToString());
        Exercise(1.5f, 2.5f, d => (d * 2).ToString());
        Exercise((byte)200, (byte)100, x => x.ToString());
        Exercise('x', 'y', x => x.ToString());
        Exercise(true, false, x => x.ToString());
        Exercise(long.MaxValue, long.MinValue, x => x.ToString("x"));
        Exercise<object>(1, "s", x => x.ToString());
        Exercise(new Small { B = 1 }, new Small { B = 2 }, x => x.B.ToString());
        Exercise(new Mid { I = 1, L = 10 }, new Mid { I = 2, L = 20 }, x => x.I + "/" + x.L);
        Exercise(new Large { A = 1, S = "a", N = 3 }, new Large { B = 2, S = "b", N = 4 }, x => x.A + x.B + x.S + x.N);
        Exercise<int?>(5, null, x => x.HasValue ? x.ToString() : "none");
        Exercise(new[] { 1 }, new[] { 2 }, x => x[0].ToString());
        Exercise(DayOfWeek.Friday, DayOfWeek.Monday, x => x.ToString());
        Exercise(new KeyValuePair<string, int>("k", 1), new KeyValuePair<string, int>("l", 2), x => x.ToString());
        Exercise(Tuple.Create(1, "x"), Tuple.Create(2, "y"), x => x.ToString());
    }
}
