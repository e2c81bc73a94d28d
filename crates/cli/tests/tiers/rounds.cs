// Two methods with the same loop over elements of an array: one has three rounds in each call, the other forty.
using System;
using System.Threading;

static class Program
{
    static int SumShort(int[] numbers, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i < limit; i++)
            sum += numbers[i];
        return sum;
    }

    static int SumLong(int[] numbers, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i < limit; i++)
            sum += numbers[i];
        return sum;
    }

    static void Main()
    {
        int[] numbers = new int[50];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = i;
        long sum = 0;
        for (int i = 0; i < 200; i++)
        {
            for (int j = 0; j < 100; j++)
                sum += SumShort(numbers, 4, 7) + SumLong(numbers, 4, 44);
            Thread.Sleep(1);
        }
        Console.WriteLine(sum);
    }
}
