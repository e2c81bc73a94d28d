// Iterator blocks: laziness, finally blocks on early exit, nesting, recursion, generic iterators, exceptions.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

class Tree<T> : IEnumerable<T>
{
    readonly T value;
    readonly Tree<T> left, right;

    public Tree(T value, Tree<T> left = null, Tree<T> right = null)
    {
        this.value = value;
        this.left = left;
        this.right = right;
    }

    public IEnumerator<T> GetEnumerator()
    {
        if (left != null)
            foreach (T t in left)
                yield return t;
        yield return value;
        if (right != null)
            foreach (T t in right)
                yield return t;
    }

    IEnumerator IEnumerable.GetEnumerator()
    {
        return GetEnumerator();
    }
}

static class Program
{
    static IEnumerable<int> Count(int n)
    {
        Console.Write("[start]");
        try
        {
            for (int i = 0; i < n; i++)
                yield return i;
            Console.Write("[end]");
        }
        finally
        {
            Console.Write("[finally]");
        }
    }

    static IEnumerable<long> Fibonacci()
    {
        long a = 0, b = 1;
        while (true)
        {
            yield return a;
            long c = a + b;
            a = b;
            b = c;
        }
    }

    static IEnumerable<int> Nested()
    {
        try
        {
            try
            {
                yield return 1;
                yield return 2;
            }
            finally
            {
                Console.Write("[inner]");
            }
            yield return 3;
        }
        finally
        {
            Console.Write("[outer]");
        }
    }

    static IEnumerable<int> Throwing()
    {
        yield return 1;
        throw new InvalidOperationException("from iterator");
    }

    static IEnumerable<T> Interleave<T>(IEnumerable<T> a, IEnumerable<T> b)
    {
        using (IEnumerator<T> x = a.GetEnumerator(), y = b.GetEnumerator())
        {
            bool more = true;
            while (more)
            {
                more = false;
                if (x.MoveNext()) { yield return x.Current; more = true; }
                if (y.MoveNext()) { yield return y.Current; more = true; }
            }
        }
    }

    static IEnumerable<string> Early(bool stop)
    {
        yield return "first";
        if (stop)
            yield break;
        yield return "second";
    }

    static IEnumerator Untyped()
    {
        yield return 1;
        yield return "two";
        yield return null;
    }

    static void Main()
    {
        foreach (int i in Count(3))
            Console.Write(i + " ");
        Console.WriteLine();
        foreach (int i in Count(100))
        {
            Console.Write(i + " ");
            if (i == 1)
                break;
        }
        Console.WriteLine();
        IEnumerable<int> lazy = Count(2);
        Console.Write("not yet ");
        Console.WriteLine(lazy.Sum() + lazy.Sum());
        Console.WriteLine(string.Join(" ", Fibonacci().Skip(10).Take(5)));
        foreach (int i in Nested())
        {
            Console.Write(i);
            if (i == 2)
                break;
        }
        Console.WriteLine();
        foreach (int i in Nested())
            Console.Write(i);
        Console.WriteLine();
        try
        {
            foreach (int i in Throwing())
                Console.Write(i + " ");
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);
        }
        IEnumerator<int> manual = Throwing().GetEnumerator();
        Console.WriteLine("{0} {1}", manual.MoveNext(), manual.Current);
        Console.WriteLine(string.Join(" ", Interleave("abc", "12345")));
        Console.WriteLine("{0} {1}", Early(true).Count(), Early(false).Last());
        IEnumerator untyped = Untyped();
        while (untyped.MoveNext())
            Console.Write("{0} ", untyped.Current ?? "null");
        Console.WriteLine();
        Tree<int> tree = new Tree<int>(4, new Tree<int>(2, new Tree<int>(1), new Tree<int>(3)), new Tree<int>(6, new Tree<int>(5)));
        Console.WriteLine(string.Join(" ", tree));
        IEnumerator<int> one = Count(1).GetEnumerator();
        one.MoveNext();
        one.Dispose();
        Console.WriteLine(one.MoveNext());
        Console.WriteLine(Fibonacci().TakeWhile(f => f < 1000000).Count());
    }
}
