// Thread.Abort ends the suspension of a thread, which then ends.
using System;
using System.Threading;

static class Program {
    static volatile bool isRunning;

    static void Main ()
    {
        var thread = new Thread (() => {
            try {
                while (true)
                    isRunning = true;
            } catch (ThreadAbortException e) {
                Console.WriteLine ("aborted: {0}", e.ExceptionState);
            }
        });
        thread.IsBackground = true;
        thread.Start ();
        while (!isRunning)
            Thread.Yield ();
#pragma warning disable 618
        thread.Suspend ();
#pragma warning restore 618
        thread.Abort ("why");
        Console.WriteLine (thread.Join (20000));
        Console.WriteLine (thread.IsAlive);
    }
}
