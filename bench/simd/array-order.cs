// Arrays turned round, filled and looked through: bytes, numbers and floats, short and long.
using System;

static class ArrayOrder
{
    static void Main()
    {
        var bytes = new byte[4000];
        var numbers = new int[1000];
        var floats = new double[1000];
        var few = new long[20];
        for (int i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(i * 7);
        for (int i = 0; i < numbers.Length; i++)
        {
            numbers[i] = i * 13;
            floats[i] = i / 4.0;
        }
        long total = 0;
        for (int round = 0; round < 150000; round++)
        {
            Array.Reverse(bytes, round % 100, 3000);
            Array.Reverse(numbers);
            Array.Reverse(few);
            few[round % 20] = round;
            total += Array.IndexOf(floats, (round % 1000) / 4.0);
            total += Array.IndexOf(numbers, -1) + Array.LastIndexOf(few, round);
            total += bytes[round % 4000] + numbers[round % 1000];
        }
        Console.WriteLine(total);
    }
}
