// Large arrays until the heap is full, then ever larger ones, for which the gaps that the first left are too small.
using System;
using System.Collections.Generic;

static class Gaps
{
    static void Fill()
    {
        var arrays = new List<byte[]>();
        while (true)
            arrays.Add(new byte[1000000]);
    }

    static void Double()
    {
        byte[] array = new byte[256];
        while (true)
            array = new byte[array.Length * 2];
    }

    static void UntilFull(Action work)
    {
        try
        {
            work();
        }
        catch (OutOfMemoryException)
        {
            Console.WriteLine("full");
        }
        GC.Collect();
    }

    static void Main()
    {
        UntilFull(Fill);
        for (int round = 0; round < 4; round++)
            UntilFull(Double);
    }
}
