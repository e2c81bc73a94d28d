// Loops that are to get along without the kernel. Arguments: which loop, how often.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Loops
{
    sealed class Cell { public bool HasToken; }

    // Threads in a ring pass a token on.
    static void Ring(int hops)
    {
        const int Members = 50;
        Cell[] cells = new Cell[Members];
        Thread[] threads = new Thread[Members];
        int left = hops;
        for (int i = 0; i < Members; i++)
            cells[i] = new Cell();
        for (int i = 0; i < Members; i++)
        {
            Cell own = cells[i], next = cells[(i + 1) % Members];
            threads[i] = new Thread(() =>
            {
                for (bool isLast = false; !isLast;)
                {
                    lock (own)
                    {
                        while (!own.HasToken)
                            Monitor.Wait(own);
                        own.HasToken = false;
                    }
                    // Once it is below zero each member ends.
                    isLast = --left < 0;
                    lock (next)
                    {
                        next.HasToken = true;
                        Monitor.Pulse(next);
                    }
                }
            });
            threads[i].Start();
        }
        lock (cells[0])
        {
            cells[0].HasToken = true;
            Monitor.Pulse(cells[0]);
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine(left);
    }

    static int Thrown(int depth, int number)
    {
        if (depth == 0)
            throw new InvalidOperationException();
        try { return Thrown(depth - 1, number) + 1; }
        finally { caught++; }
    }

    static int caught;

    static void Throw(int count)
    {
        for (int i = 0; i < count; i++)
        {
            try { Thrown(2, i); }
            catch (InvalidOperationException) { caught++; }
        }
        Console.WriteLine(caught);
    }

    [DllImport("libc")]
    static extern int abs(int number);

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    // Into native code, and every hundredth time back from there.
    static void Invoke(int count)
    {
        int[] items = { 2, 1 };
        int compared = 0;
        Compare compare = (a, b) => { compared++; return 0; };
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            sum += abs(-i);
            if (i % 100 == 0)
                qsort(items, (IntPtr)2, (IntPtr)4, compare);
        }
        Console.WriteLine(sum + " " + compared);
    }

    static void Main(string[] arguments)
    {
        int count = int.Parse(arguments[1]);
        switch (arguments[0])
        {
            case "ring": Ring(count); break;
            case "throw": Throw(count); break;
            case "invoke": Invoke(count); break;
        }
    }
}
