// Dynamic methods made and run by several threads at once, with collections in between.
// mcs: -r:System.Core.dll
using System;
using System.Linq;
using System.Linq.Expressions;
using System.Threading;

static class Program
{
    static void Main()
    {
        long[] totals = new long[4];
        Thread[] threads = Enumerable.Range(0, totals.Length).Select(n => new Thread(() =>
        {
            for (int i = 0; i < 100; i++)
            {
                ParameterExpression x = Expression.Parameter(typeof(int), "x");
                Expression text = Expression.Call(Expression.Constant("t" + i), typeof(string).GetMethod("Insert"), Expression.Constant(0), Expression.Call(x, typeof(int).GetMethod("ToString", Type.EmptyTypes)));
                string made = Expression.Lambda<Func<int, string>>(text, x).Compile()(n);
                if (made != n + "t" + i)
                    throw new Exception(made);
                totals[n] += made.Length;
                if (i % 25 == 0)
                    GC.Collect();
            }
        })).ToArray();
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine(string.Join(" ", totals));
    }
}
