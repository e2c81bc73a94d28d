// The value returned from Main is the exit code.
// exit: 42
using System;

static class Program
{
    static int Main()
    {
        Console.WriteLine("returning 42");
        return 42;
    }
}
