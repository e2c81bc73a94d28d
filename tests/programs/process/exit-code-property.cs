// Environment.ExitCode counts when Main returns void; a foreground thread may still set it.
// exit: 9
using System;
using System.Threading;

static class Program
{
    static void Main()
    {
        Environment.ExitCode = 3;
        Console.WriteLine("Main returns");
        // Most often after Main has returned.
        new Thread(() => { Thread.Sleep(20); Environment.ExitCode = 9; Console.WriteLine("set by the thread"); }).Start();
    }
}
