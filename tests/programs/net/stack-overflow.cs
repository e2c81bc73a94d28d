// A stack overflow cannot be caught: it ends the process with a report, in which frames that repeat stand once.
// exit: 134
// stderr-contains: Stack overflow.
// stderr-contains:    at Program.Down(Int32, System.String, System.Collections.Generic.List`1<Int32>)
// stress: skip deep stacks make every collection slow
using System;
using System.Collections.Generic;
using System.Threading;

static class Program
{
    static int Down(int depth, string text, List<int> list) => Down(depth + 1, text, list) + depth;

    static void Main()
    {
        Console.WriteLine("begin");
        var thread = new Thread(() =>
        {
            try
            {
                Console.WriteLine(Down(0, "", null));
            }
            catch (Exception e)
            {
                Console.WriteLine("caught " + e.GetType());
            }
            finally
            {
                Console.WriteLine("finally");
            }
        });
        thread.Start();
        thread.Join();
        Console.WriteLine("not reached");
    }
}
