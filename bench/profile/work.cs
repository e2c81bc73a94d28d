// Work for profilers: the same in C#, Go and Java. Arguments: calls, floats, alloc or trees; rounds.
using System;

sealed class Small { public int Value; }

sealed class Tree
{
    Tree left, right;

    public static Tree Build(int depth)
    {
        Tree tree = new Tree();
        if (depth > 0)
        {
            tree.left = Build(depth - 1);
            tree.right = Build(depth - 1);
        }
        return tree;
    }

    public int Count() { return left == null ? 1 : 1 + left.Count() + right.Count(); }
}

static class Work
{
    static Small kept;

    static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }

    static double Element(int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }

    static double Floats(int n)
    {
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                sum += Element(i, j);
        return sum;
    }

    static int Alloc(int count)
    {
        for (int i = 0; i < count; i++)
            kept = new Small { Value = i };
        return kept.Value + 1;
    }

    static long Round(string mode)
    {
        switch (mode)
        {
            case "calls": return Fib(32);
            case "floats": return (long)(1000 * Floats(500));
            case "alloc": return Alloc(1000000);
            case "trees": return Tree.Build(14).Count();
            default: throw new ArgumentException(mode);
        }
    }

    static void Main(string[] args)
    {
        long sum = 0;
        for (int rounds = int.Parse(args[1]); rounds > 0; rounds--)
            sum += Round(args[0]);
        Console.WriteLine(sum);
    }
}
