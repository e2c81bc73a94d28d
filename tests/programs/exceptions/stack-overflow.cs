// Endless recursion that nobody catches ends the process with a report, not with a hang or silence.
// exit: nonzero
// stderr-contains: tack overflow
// stress: skip deep stacks make every collection slow
using System;
using System.Runtime.CompilerServices;

static class Program
{
    static int depth;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Recurse(int n)
    {
        depth++;
        return Recurse(n + 1) + n;
    }

    static void Main()
    {
        Console.WriteLine("before");
        Console.WriteLine(Recurse(0));
    }
}
