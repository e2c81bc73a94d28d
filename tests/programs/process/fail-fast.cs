// Environment.FailFast ends the process without handlers or finally blocks.
// exit: nonzero
// stderr-contains: fatal message
using System;

static class Program
{
    static void Main()
    {
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("not reached");
        Console.WriteLine("failing");
        try
        {
            Environment.FailFast("fatal message");
        }
        finally
        {
            Console.WriteLine("not reached either");
        }
    }
}
