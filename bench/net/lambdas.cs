// 300,000 lambdas through System.Linq.Expressions on all processors: threads take indices from a counter, compile pairs
// of small lambdas, run each once and drop them.
using System;
using System.Linq.Expressions;
using System.Threading;

static class Program
{
    const int Methods = 300_000;
    static int next;
    static long sum;

    static Func<int, int> Compile(int seed, bool first)
    {
        ParameterExpression x = Expression.Parameter(typeof(int), "x");
        Expression body = first
            ? Expression.Add(Expression.Multiply(x, Expression.Constant(seed)), Expression.Constant(7))
            : Expression.Subtract(Expression.Multiply(x, x), Expression.Constant(seed));
        return Expression.Lambda<Func<int, int>>(body, x).Compile();
    }

    static void Work()
    {
        long mine = 0;
        for (int index; (index = Interlocked.Increment(ref next) - 1) < Methods / 2;)
        {
            mine += Compile(index, true)(index);
            mine += Compile(index, false)(index);
        }
        Interlocked.Add(ref sum, mine);
    }

    static void Main()
    {
        var threads = new Thread[Environment.ProcessorCount];
        for (int i = 0; i < threads.Length; i++)
            (threads[i] = new Thread(Work)).Start();
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine(sum);
    }
}
