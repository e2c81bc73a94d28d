// Environment.Exit ends the process at once: finally blocks do not run, ProcessExit handlers do, other threads end.
// exit: 7
using System;
using System.Threading;

static class Program
{
    static void Main()
    {
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("ProcessExit");
        new Thread(() => Thread.Sleep(Timeout.Infinite)).Start();
        try
        {
            Console.WriteLine("exiting");
            Environment.Exit(7);
        }
        finally
        {
            Console.WriteLine("not reached");
        }
    }
}
