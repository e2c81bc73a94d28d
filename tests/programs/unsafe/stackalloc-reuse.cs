// mcs: -unsafe
// stackalloc of sizes known at run time gives zeroed memory also where it was used before, and frames keep their own.
using System;

static class Program {
    static unsafe int Deep (int depth, int size)
    {
        byte* mine = stackalloc byte[size];
        for (int i = 0; i < size; i++)
            if (mine[i] != 0)
                return -1;
        for (int i = 0; i < size; i++)
            mine[i] = (byte) depth;
        int below = depth == 0 ? 0 : Deep (depth - 1, size + 37);
        if (below < 0)
            return below;
        for (int i = 0; i < size; i++)
            if (mine[i] != (byte) depth)
                return -2;
        return below + 1;
    }

    static unsafe void Thrower (int size)
    {
        long* words = stackalloc long[size];
        for (int i = 0; i < size; i++)
            words[i] = -1;
        throw new InvalidOperationException ();
    }

    static void Main ()
    {
        for (int round = 0; round < 200; round++) {
            if (Deep (30, 1 + round % 7) != 31)
                Console.WriteLine ("wrong");
            try {
                Thrower (20 + round);
            } catch (InvalidOperationException) { }
        }
        double sum = 0;
        for (int i = 1; i < 2000; i++)
            sum += Double.Parse ((1.0 / i).ToString ("R", System.Globalization.CultureInfo.InvariantCulture), System.Globalization.CultureInfo.InvariantCulture) - 1.0 / i;
        Console.WriteLine ("{0} {1} {2}", Deep (10, 5), sum, (0.1).ToString ("E16", System.Globalization.CultureInfo.InvariantCulture));
    }
}
