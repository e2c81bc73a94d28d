// A method with one call of each kind, hot at once.
using System;
using System.Threading;

interface IStep { int Next(int x); }
class Adder : IStep { int by = 2; public int Next(int x) { return x + by; } }

static class Program
{
    static int Small(int x) { return x * 3; }

    static int Caught(int x)
    {
        try { return 100 / x; }
        catch (DivideByZeroException) { return 0; }
    }

    static int Work(IStep step, Func<int, int> twist, int[] numbers)
    {
        int sum = Small(numbers.Length) + Caught(numbers.Length) + step.Next(1) + twist(2);
        for (int i = 0; i < numbers.Length; i++)
            sum += numbers[i];
        return sum;
    }

    static void Main()
    {
        var step = new Adder();
        var numbers = new int[10];
        int sum = 0;
        // Until the second tier has it, whatever the machine.
        for (int i = 0; i < 200; i++)
        {
            for (int j = 0; j < 2000; j++)
                sum += Work(step, x => x - 1, numbers);
            Thread.Sleep(5);
        }
        Console.WriteLine(sum);
    }
}
