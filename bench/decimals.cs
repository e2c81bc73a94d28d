// Decimal arithmetic. Prints "name nanoseconds" a line: the time of one operation, best of seven rounds.
using System;
using System.Diagnostics;
using System.Globalization;

static class Decimals
{
    const int Rounds = 7;
    const int Count = 1000000;

    static void Measure(string name, Func<int, decimal> body)
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

    static decimal Add(int count)
    {
        decimal sum = 0;
        for (int i = 0; i < count; i++)
            sum += 1.25m;
        return sum;
    }

    static decimal AddScales(int count)
    {
        decimal sum = 0.001m;
        for (int i = 0; i < count; i++)
            sum = sum + i - 0.5m;
        return sum;
    }

    static decimal Multiply(int count)
    {
        decimal sum = 0;
        for (int i = 0; i < count; i++)
            sum += i * 1.0175m;
        return sum;
    }

    static decimal Divide(int count)
    {
        decimal sum = 0;
        for (int i = 1; i <= count; i++)
            sum += 1000m / i;
        return sum;
    }

    static decimal Compare(int count)
    {
        decimal limit = 500.25m;
        int below = 0;
        for (int i = 0; i < count; i++)
            if (i < limit)
                below++;
        return below;
    }

    static decimal Round(int count)
    {
        decimal sum = 0;
        for (int i = 0; i < count; i++)
            sum += Math.Round(i * 0.333m, 2);
        return sum;
    }

    static decimal Convert(int count)
    {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += (double)(decimal)(i * 0.5);
        return (decimal)sum;
    }

    static void Main()
    {
        Measure("add", Add);
        Measure("add-scales", AddScales);
        Measure("multiply", Multiply);
        Measure("divide", Divide);
        Measure("compare", Compare);
        Measure("round", Round);
        Measure("convert", Convert);
    }
}
