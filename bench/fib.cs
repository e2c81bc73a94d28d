// Calls: doubly recursive Fibonacci numbers.
using System;

static class Fib
{
    static int Compute(int n)
    {
        return n < 2 ? n : Compute(n - 1) + Compute(n - 2);
    }

    static void Main()
    {
        Console.WriteLine(Compute(41));
    }
}
