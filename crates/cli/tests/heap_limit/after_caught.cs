// The method that has caught an OutOfMemoryException gets its memory back while it still runs: nothing that was on its way when memory ran out stays.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Node
{
    public Node Next;
    public byte[] Data;
}

static class Program
{
    const int Block = 1 << 16;

    // Memory in use after a full collection, in MiB.
    static long Used()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        return GC.GetTotalMemory(false) >> 20;
    }

    static void Lists(string name)
    {
        List<byte[]> hold = null;
        try
        {
            hold = new List<byte[]>();
            while (true)
                hold.Add(new byte[Block]);
        }
        catch (OutOfMemoryException)
        {
            hold = null;
            Console.WriteLine("{0}: {1}", name, Used() < 20 ? "free" : "held");
        }
        Console.WriteLine("{0}, behind the handler: {1}", name, Used() < 20 ? "free" : "held");
    }

    static void Chain(string name)
    {
        Node first = null;
        try
        {
            while (true)
                first = new Node { Next = first, Data = new byte[100] };
        }
        catch (OutOfMemoryException)
        {
            first = null;
            Console.WriteLine("{0}: {1}", name, Used() < 20 ? "free" : "held");
        }
    }

    static void InCallee(string name)
    {
        var hold = new Node[1];
        int depth = 0;
        try
        {
            Fill(hold, ref depth);
        }
        catch (OutOfMemoryException)
        {
            hold = null;
            Console.WriteLine("{0}: {1}", name, Used() < 20 ? "free" : "held");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(Node[] hold, ref int depth)
    {
        Node a = hold[0], b = a, c = b, d = c;
        while (true)
        {
            d = c;
            c = b;
            b = a;
            a = new Node { Next = hold[0], Data = new byte[1000 + (depth++ & 7)] };
            hold[0] = a;
            if (depth == int.MaxValue)
                Console.WriteLine("{0} {1} {2} {3}", a, b, c, d);
        }
    }

    static void InFinally(string name)
    {
        Node first = null;
        try
        {
            try
            {
                while (true)
                    first = new Node { Next = first, Data = new byte[Block] };
            }
            finally
            {
                first = null;
                Console.WriteLine("{0}: {1}", name, Used() < 20 ? "free" : "held");
            }
        }
        catch (OutOfMemoryException)
        {
        }
    }

    static void Main()
    {
        for (int round = 0; round < 2; round++)
        {
            Lists("list");
            Chain("chain");
            InCallee("callee");
            InFinally("finally");
        }
        List<byte[]> all = null;
        try
        {
            all = new List<byte[]>();
            while (true)
                all.Add(new byte[Block]);
        }
        catch (OutOfMemoryException)
        {
            all = null;
            Console.WriteLine("main: {0}", Used() < 20 ? "free" : "held");
        }
    }
}
