// At exit the other threads stop before the finalizers run: none sees a finalized object.
using System;
using System.Threading;

class Resource
{
    public volatile bool IsClosed;
    public volatile int Uses;

    ~Resource ()
    {
        IsClosed = true;
        Thread.Sleep (100);
    }
}

static class Program
{
    static readonly Resource resource = new Resource ();

    static void Use ()
    {
        while (true) {
            if (resource.IsClosed)
                Console.WriteLine ("used after its finalizer");
            resource.Uses++;
        }
    }

    static void Main ()
    {
        for (int i = 0; i < 3; i++)
            new Thread (Use) { IsBackground = true }.Start ();
        while (resource.Uses < 1000)
            Thread.Yield ();
        Console.WriteLine ("end");
    }
}
