// Array writes with a stride: the sieve of Eratosthenes, several times.
using System;

static class Sieve
{
    static int Count(int limit)
    {
        bool[] composite = new bool[limit + 1];
        int count = 0;
        for (int i = 2; i <= limit; i++)
        {
            if (composite[i])
                continue;
            count++;
            for (long j = (long)i * i; j <= limit; j += i)
                composite[(int)j] = true;
        }
        return count;
    }

    static void Main()
    {
        int total = 0;
        for (int round = 0; round < 120; round++)
            total += Count(1000000 + round);
        Console.WriteLine(total);
    }
}
