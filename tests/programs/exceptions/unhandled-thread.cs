// An unhandled exception on another thread ends the whole process.
// exit: 1
// stderr-contains: System.ApplicationException: on a thread
using System;
using System.Threading;

static class Program
{
    static void Main()
    {
        Console.WriteLine("before");
        Thread thread = new Thread(() => { throw new ApplicationException("on a thread"); });
        thread.Start();
        thread.Join();
        Thread.Sleep(5000);
        Console.WriteLine("not reached");
    }
}
