// A loop of Main, which is called once, for longer than any machine needs to compile it.
using System;
using System.Diagnostics;

static class Program
{
    static int Main()
    {
        var watch = Stopwatch.StartNew();
        long sum = 0;
        for (long i = 0; watch.ElapsedMilliseconds < 3000; i++)
            for (int j = 0; j < 1000; j++)
                sum += i ^ j;
        Console.WriteLine(sum == 0 ? "nothing" : "done");
        return 0;
    }
}
