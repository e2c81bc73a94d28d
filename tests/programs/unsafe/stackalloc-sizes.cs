// mcs: -unsafe
// stackalloc of sizes known at run time: in the frame or outside it, several in one method, in loops, in recursion, through
// exceptions; always zeroed and never overlapping.
using System;
using System.Runtime.CompilerServices;

static unsafe class StackAllocSizes {
    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Sum (byte* p, int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += p[i];
        return sum;
    }

    static int Two (int a, int b)
    {
        byte* first = stackalloc byte[a];
        byte* second = stackalloc byte[b];
        int dirty = Sum (first, a) + Sum (second, b);
        for (int i = 0; i < a; i++)
            first[i] = 1;
        for (int i = 0; i < b; i++)
            second[i] = 2;
        return dirty * 1000000 + Sum (first, a) + Sum (second, b);
    }

    static int Loop (int count, int size)
    {
        int sum = 0;
        byte* previous = null;
        for (int i = 0; i < count; i++) {
            byte* p = stackalloc byte[size];
            sum += Sum (p, size) * 1000000;
            for (int j = 0; j < size; j++)
                p[j] = (byte) (i + 1);
            if (previous != null && previous[0] != i)
                sum += 500000;
            previous = p;
            sum += p[size - 1];
        }
        return sum;
    }

    static int Deep (int depth)
    {
        int size = depth * 7 % 200 + 1;
        byte* p = stackalloc byte[size];
        int dirty = Sum (p, size);
        for (int i = 0; i < size; i++)
            p[i] = (byte) depth;
        int below = depth == 0 ? 0 : Deep (depth - 1);
        return below + dirty * 1000000 + (Sum (p, size) == size * depth ? 1 : 1000);
    }

    static int Throws (int size)
    {
        byte* p = stackalloc byte[size];
        p[0] = 1;
        if (size > 1)
            throw new InvalidOperationException ("size " + size);
        return p[0];
    }

    static int Struct (int size)
    {
        decimal result = Value (size);
        return (int) result;
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static decimal Value (int size)
    {
        decimal* p = stackalloc decimal[size];
        p[size - 1] = size;
        return p[size - 1] + p[0];
    }

    static void Main ()
    {
        foreach (int a in new[] { 0, 1, 15, 127, 128, 129, 1000, 5000 })
            Console.WriteLine ("{0}: {1} {2} {3}", a, Two (a, 3), Two (3, a), Two (a, a));
        Console.WriteLine ("{0} {1}", Loop (10, 16), Loop (10, 300));
        Console.WriteLine (Deep (255));
        int caught = 0;
        for (int i = 0; i < 1000; i++)
            try {
                Throws (i % 400 + 1);
            } catch (InvalidOperationException e) {
                caught += e.Message.Length;
            }
        Console.WriteLine (caught);
        Console.WriteLine ("{0} {1} {2}", Struct (1), Struct (8), Struct (9));
    }
}
