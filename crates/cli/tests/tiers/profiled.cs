// A method whose branches the first tier has seen go one way nearly always.
using System;
using System.Threading;

static class Program
{
    static int Small(int n) { return n + 1; }
    static int Medium(int n) { return (n ^ 5) + (n >> 3) + (n & 7) * 3 + (n | 9) - (n % 11); }

    static int Work(int[] numbers, int n)
    {
        if (n < 0)
            return Medium(n) + Small(n);
        if ((n & 3) == 0)
            n += numbers[n & 7];
        if (n > 1000000)
            n = Medium(n);
        return Small(n);
    }

    static void Main()
    {
        int[] numbers = new int[8];
        long sum = 0;
        for (int i = 0; i < 200; i++)
        {
            for (int j = 0; j < 100; j++)
                sum += Work(numbers, j);
            Thread.Sleep(1);
        }
        Console.WriteLine(sum + Work(numbers, -9) + Work(numbers, 2000000));
    }
}
