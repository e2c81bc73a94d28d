// Publication of dynamic code: threads take class indices from a queue, compile three pairs of small lambdas per class,
// run each once and drop them; prints wall time a method. Arguments: threads (default 2), methods (default 30000, a multiple of 6).
using System;
using System.Diagnostics;
using System.Linq.Expressions;
using System.Threading;

static class Lambdas
{
    static int next, methods;
    static long sum;

    static Func<int, int> Compile(int seed, bool first)
    {
        ParameterExpression x = Expression.Parameter(typeof(int), "x");
        Expression body = first
            ? Expression.Add(Expression.Multiply(x, Expression.Constant(seed)), Expression.Constant(7))
            : (Expression)Expression.Subtract(Expression.Multiply(x, x), Expression.Constant(seed));
        return Expression.Lambda<Func<int, int>>(body, x).Compile();
    }

    static void Work()
    {
        long mine = 0;
        for (;;)
        {
            int index = Interlocked.Increment(ref next) - 1;
            if (index >= methods / 6)
                break;
            for (int pair = 0; pair < 3; pair++)
            {
                mine += Compile(index * 3 + pair, true)(index);
                mine += Compile(index * 3 + pair, false)(index);
            }
        }
        Interlocked.Add(ref sum, mine);
    }

    static void Main(string[] args)
    {
        int threads = args.Length > 0 ? int.Parse(args[0]) : 2;
        methods = args.Length > 1 ? int.Parse(args[1]) : 30000;
        Compile(1, true)(1);
        Stopwatch watch = Stopwatch.StartNew();
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++)
            (all[i] = new Thread(Work)).Start();
        foreach (Thread thread in all)
            thread.Join();
        double nanoseconds = watch.Elapsed.TotalMilliseconds * 1e6;
        Console.Error.WriteLine("checksum {0}", sum);
        Console.WriteLine("{0} methods, {1} threads {2:F1} ns", methods, threads, nanoseconds / methods);
    }
}
