// An unhandled exception ends the process with exit code 1 after its text went to standard error; finally blocks of
// the frames that are never unwound are not asked for here.
// exit: 1
// stderr-contains: Unhandled Exception:
// stderr-contains: System.InvalidOperationException: nobody catches this
// stderr-contains: Program.Fail
// stderr-contains: Program.Main
using System;
using System.Runtime.CompilerServices;

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fail()
    {
        throw new InvalidOperationException("nobody catches this");
    }

    static void Main()
    {
        Console.WriteLine("before");
        Fail();
        Console.WriteLine("after");
    }
}
