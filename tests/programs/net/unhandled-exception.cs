// An exception that nothing catches is written to standard error as .NET does it, and the process aborts. Its finally blocks do not run.
// exit: 134
// stderr-contains: Unhandled exception. System.InvalidOperationException: nobody wants this
// stderr-contains:    at P.Fails(Int32 depth)
// stderr-contains:    at P.Main()
using System;
using System.Runtime.CompilerServices;

static class P
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fails(int depth)
    {
        if (depth == 0) throw new InvalidOperationException("nobody wants this");
        Fails(depth - 1);
        Console.WriteLine("not reached");
    }

    static void Main()
    {
        AppDomain.CurrentDomain.UnhandledException += (sender, e) =>
            Console.WriteLine($"event: {((Exception)e.ExceptionObject).Message}, terminating {e.IsTerminating}");
        Console.WriteLine("before");
        Fails(2);
    }
}
