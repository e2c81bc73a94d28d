// Uses a library, the thread pool and the collector.
using System;
using System.Threading;

static class User
{
    static void Main()
    {
        using (ManualResetEvent done = new ManualResetEvent(false))
        {
            ThreadPool.QueueUserWorkItem(_ => done.Set());
            done.WaitOne();
        }
        GC.Collect();
        Console.WriteLine(new Library().Five());
    }
}
