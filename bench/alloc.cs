// Allocation: 100,000,000 small objects, of which only the last survives.
using System;

static class Alloc
{
    static object o;

    static void Main()
    {
        for (int i = 0; i < 100000000; i++)
            o = new object();
        Console.WriteLine(o != null);
    }
}
