// 50,000 exceptions thrown through five frames, caught by type and by filter, with a finally on the way.
using System;
using System.Runtime.CompilerServices;

static class Program
{
    static int cleaned;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deep(int depth, int value)
    {
        if (depth == 0)
            throw new InvalidOperationException("value");
        try { return Deep(depth - 1, value) + 1; }
        finally { cleaned++; }
    }

    static void Main()
    {
        int byType = 0, byFilter = 0;
        for (int i = 0; i < 50000; i++)
        {
            try { Deep(5, i); }
            catch (Exception e) when (e is ArgumentException || (i & 1) == 0) { byFilter++; }
            catch (InvalidOperationException) { byType++; }
        }
        Console.WriteLine($"{byType} {byFilter} {cleaned}");
    }
}
