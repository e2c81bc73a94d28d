// Branches that a method has hardly ever taken by the time it is compiled again, and takes then: by exceptions, by
// loops and calls in what was never run, and by values of which only that code takes the address.
using System;
using System.Collections.Generic;

struct Pair
{
    public int First, Second;
    public Pair(int first, int second) { First = first; Second = second; }
    public int Sum() { return First + Second; }
    public void Swap() { int first = First; First = Second; Second = first; }
}

class Counter
{
    public int Value;
    public int Next() { return ++Value; }
    public virtual int Twice(int n) { return 2 * n; }
}

class Other : Counter
{
    public override int Twice(int n) { return 20 * n; }
}

static class Program
{
    static readonly List<string> log = new List<string>();

    static int Checked(int[] values, int index, int limit)
    {
        if (index >= limit)
        {
            if (index > 2 * limit)
                throw new ArgumentException("far beyond");
            log.Add("beyond " + index);
            for (int i = 0; i < values.Length; i++)
                index += values[i];
            return -index;
        }
        return values[index];
    }

    // The value stays in registers although the branch takes its address.
    static int Values(Pair pair, bool swaps)
    {
        int sum = 0;
        if (swaps)
        {
            pair.Swap();
            sum = 1000 * pair.Sum();
        }
        return sum + pair.First - pair.Second;
    }

    static int Protected(Counter counter, int n)
    {
        int before = counter.Value;
        try
        {
            if (n == 7)
            {
                before = counter.Next();
                if (counter.Value % 2 == 0)
                    throw new InvalidOperationException("even " + before);
            }
            return counter.Twice(n);
        }
        catch (InvalidOperationException e)
        {
            log.Add(e.Message);
            return before;
        }
        finally
        {
            if (n == 7)
                log.Add("finally " + before);
        }
    }

    // Both sides meet again with values on the stack.
    static long Joined(long a, int kind)
    {
        return a * (kind == 0 ? 3 : kind == 1 ? Math.Max((int)a, 5) : kind == 2 ? Other(kind) : -1) + (kind > 3 ? 100 : 0);
    }

    static int Other(int kind)
    {
        log.Add("other " + kind);
        return kind;
    }

    // A loop that has never ended when its method is compiled, and what is behind it.
    static int Behind(int rounds)
    {
        int sum = 0;
        for (int i = 0; i < rounds; i++)
        {
            if (i % 1000 == 999 && i > rounds - 2)
                sum += 1000000;
            sum ^= i;
        }
        Counter counter = new Other();
        for (int i = 0; i < rounds; i++)
            sum += counter.Twice(i) - counter.Next();
        return sum;
    }

    static void Main()
    {
        int[] values = { 3, 1, 4, 1, 5 };
        Counter counter = new Counter(), other = new Other();
        long sum = 0;
        for (int round = 0; round < 6000; round++)
        {
            sum += Checked(values, round % 5, 5);
            sum += Values(new Pair(round, 3), false);
            sum += Protected(counter, round % 5);
            sum += Joined(round, 0);
        }
        Console.WriteLine(sum);
        for (int round = 0; round < 3; round++)
        {
            sum += Checked(values, 6 + round, 5);
            sum += Values(new Pair(round, 3), true);
            sum += Protected(round == 1 ? other : counter, 7);
            for (int kind = 1; kind < 5; kind++)
                sum += Joined(round, kind);
            try
            {
                sum += Checked(values, 50, 5);
            }
            catch (ArgumentException e)
            {
                log.Add(e.Message);
            }
        }
        Console.WriteLine(sum);
        Console.WriteLine(Behind(100000));
        Console.WriteLine(Behind(1000));
        foreach (string line in log)
            Console.WriteLine(line);
    }
}
