// Thread-static fields. Prints "name nanoseconds" a line: the time of one access, best of seven rounds.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;

static class ThreadStatics
{
    const int Rounds = 7;
    const int Accesses = 20000000;

    [ThreadStatic]
    static int number;

    [ThreadStatic]
    static object reference;

    static class WithInitialiser
    {
        [ThreadStatic]
        public static int Number;
        public static readonly int Start = Environment.ProcessorCount;
    }

    static class Generic<T>
    {
        [ThreadStatic]
        public static int Number;
    }

    static readonly ThreadLocal<int> local = new ThreadLocal<int>(() => 0);

    static void Measure(string name, int count, Func<int, long> body)
    {
        body(100);
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            body(count);
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / count);
        }
        Console.WriteLine("{0} {1:F2}", name, best);
    }

    static long Numbers(int count)
    {
        for (int i = 0; i < count; i++)
            number += i;
        return number;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Add(int i)
    {
        number += i;
    }

    static long Calls(int count)
    {
        for (int i = 0; i < count; i++)
            Add(i);
        return number;
    }

    static long References(int count)
    {
        object one = new object(), two = new object();
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            if (reference == one)
                sum++;
            reference = (i & 1) == 0 ? one : two;
        }
        return sum;
    }

    static long Initialised(int count)
    {
        for (int i = 0; i < count; i++)
            WithInitialiser.Number += i;
        return WithInitialiser.Number + WithInitialiser.Start;
    }

    static long Generics(int count)
    {
        for (int i = 0; i < count; i++)
            Generic<string>.Number += i;
        return Generic<string>.Number;
    }

    static long Locals(int count)
    {
        for (int i = 0; i < count; i++)
            local.Value += i;
        return local.Value;
    }

    static void Main()
    {
        Measure("int", Accesses, Numbers);
        Measure("int-in-call", Accesses, Calls);
        Measure("reference", Accesses, References);
        Measure("with-initialiser", Accesses, Initialised);
        Measure("generic", Accesses, Generics);
        Measure("thread-local", Accesses / 10, Locals);
    }
}
