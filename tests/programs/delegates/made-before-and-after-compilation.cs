// Delegates of all kinds, made before and after their methods are compiled, call the same, are equal and name the same method.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Node
{
    public int Value;
    public int Get(int x) { return Value + x; }
    public virtual int Twice(int x) { return 2 * x; }
    public int Self<T>(int x) { return x + typeof(T).Name.Length; }
}

class Leaf : Node
{
    public override int Twice(int x) { return base.Twice(x) + 1; }
    public Func<int, int> Base() { return base.Twice; }
}

class Remote : MarshalByRefObject
{
    public int Get(int x) { return x - 1; }
}

struct Number
{
    public int N;
    public int Next(int x) { return N++ + x; }
}

interface IShape { int Side(int x); }
class Square : IShape { public int Side(int x) { return x * x; } }

static class Extensions
{
    public static int CountWith(this string text, int x) { return text.Length + x; }
    public static int OfNull(this string text, int x) { return (text == null ? 0 : 1) + x; }
}

static class Program
{
    static int Static(int x) { return x + 100; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Func<int, int>[] Make(Node node, Leaf leaf, Remote remote, IShape shape, int captured)
    {
        Number number = new Number { N = 7 };
        return new Func<int, int>[] {
            Static, node.Get, node.Twice, leaf.Twice, leaf.Base(), node.Self<string>, remote.Get, number.Next, shape.Side,
            "text".CountWith, ((string)null).OfNull, x => x + captured, x => -x
        };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Null(Node node)
    {
        try
        {
            Func<int, int> bad = node.Get;
            return bad.Method.Name;
        }
        catch (ArgumentException)
        {
            return "refused";
        }
    }

    static void Main()
    {
        Node node = new Node { Value = 3 };
        Leaf leaf = new Leaf();
        Remote remote = new Remote();
        Square shape = new Square();
        Func<int, int>[] early = Make(node, leaf, remote, shape, 5);
        for (int round = 0; round < 2; round++)
        {
            Func<int, int>[] made = Make(node, leaf, remote, shape, 5);
            for (int i = 0; i < made.Length; i++)
            {
                string target = made[i].Target == null ? "-" : made[i].Target.GetType().Name.Split('<')[0];
                // Two boxes and two closures are not the same target.
                bool same = i == 7 || i == 11 || (made[i] == early[i] && made[i].GetHashCode() == early[i].GetHashCode());
                string name = made[i].Method.Name.StartsWith("<") ? "lambda" : made[i].Method.Name;
                Console.WriteLine("{0} {1} {2} {3} {4}", name, target, early[i](10), made[i](10), same);
            }
        }
        Console.WriteLine("{0} {1}", Null(node), Null(null));
        Func<int, int> all = null;
        foreach (Func<int, int> one in early)
            all += one;
        Console.WriteLine("{0} {1}", all(1), all.GetInvocationList().Length);
        all -= Static;
        Console.WriteLine(all.GetInvocationList().Length);

        // Many, which live through collections.
        List<Func<int, int>> kept = new List<Func<int, int>>();
        long sum = 0;
        for (int i = 0; i < 20000; i++)
        {
            int n = i;
            Func<int, int> f = x => x + n;
            if (i % 50 == 0)
                kept.Add(f);
            sum += f(1) + new Func<int, int>(new Node { Value = i }.Get)(1);
        }
        GC.Collect();
        foreach (Func<int, int> f in kept)
            sum += f(0);
        Console.WriteLine("{0} {1}", kept.Count, sum);
    }
}
