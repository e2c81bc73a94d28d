// Arithmetic with overflow checks. Prints "name nanoseconds" a line: the time of one round of the loop, best of seven.
using System;
using System.Diagnostics;

static class Checked
{
    const int Rounds = 7;
    const int Count = 20000000;

    static void Measure(string name, Func<int, long> body)
    {
        body(100);
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            body(Count);
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Count);
        }
        Console.WriteLine("{0} {1:F2}", name, best);
    }

    static long Sum(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum = checked(sum + (i & 3));
        return sum;
    }

    static long Products(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum = checked(sum + (i & 1023) * (i & 511));
        return sum;
    }

    static long Unsigned(int count)
    {
        ulong sum = 0;
        for (uint i = 0; i < (uint)count; i++)
            sum = checked(sum * 3 % 1000003 + i);
        return (long)sum;
    }

    static long Conversions(int count)
    {
        long sum = 0;
        for (long i = 0; i < count; i++)
            sum += checked((byte)(i & 127)) + checked((int)i) + checked((uint)(i >> 1));
        return sum;
    }

    static long Elements(int count)
    {
        var values = new int[1024];
        for (int i = 0; i < values.Length; i++)
            values[i] = i;
        int sum = 0;
        for (int i = 0; i < count; i++)
            checked { sum += values[i & 1023] - 511; }
        return sum;
    }

    static long Powers(int count)
    {
        long result = 0;
        for (int i = 0; i < count / 16; i++)
        {
            long power = 1;
            for (int j = 0; j < 16; j++)
                power = checked(power * 7 - j);
            result ^= power;
        }
        return result;
    }

    static void Main()
    {
        Measure("sum", Sum);
        Measure("products", Products);
        Measure("unsigned", Unsigned);
        Measure("conversions", Conversions);
        Measure("elements", Elements);
        Measure("powers", Powers);
    }
}
