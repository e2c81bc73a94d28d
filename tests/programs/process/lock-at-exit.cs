// A background thread that holds a lock which a finalizer needs at exit does not keep the process from ending.
using System;
using System.Threading;

class NeedsLock
{
    ~NeedsLock ()
    {
        lock (Program.Lock) {}
    }
}

static class Program
{
    public static readonly object Lock = new object ();
    public static readonly NeedsLock NeedsLock = new NeedsLock ();
    static readonly ManualResetEvent isOwned = new ManualResetEvent (false);

    static void Own ()
    {
        lock (Lock) {
            isOwned.Set ();
            for (int i = 0; i < 50; i++)
                Thread.Sleep (1);
        }
        Thread.Sleep (Timeout.Infinite);
    }

    static void Main ()
    {
        new Thread (Own) { IsBackground = true }.Start ();
        isOwned.WaitOne ();
        Console.WriteLine ("end");
    }
}
