// ThreadPool.SetMaxThreads: more threads than the pool can have are taken for as many as it can.
using System;
using System.Threading;

static class Program {
    static void Show ()
    {
        int workers, io;
        ThreadPool.GetMaxThreads (out workers, out io);
        Console.WriteLine ("{0} {1}", workers, io);
    }

    static void Main ()
    {
        Console.WriteLine (ThreadPool.SetMaxThreads (30000, 31000));
        Show ();
        Console.WriteLine (ThreadPool.SetMaxThreads (32768, 50000));
        Show ();
        Console.WriteLine (ThreadPool.SetMinThreads (40000, 1));
        Console.WriteLine (ThreadPool.SetMaxThreads (-1, 100));
        Show ();
    }
}
