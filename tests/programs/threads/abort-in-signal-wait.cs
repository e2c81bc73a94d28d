// A thread that waits in UnixSignal.WaitOne, a loop in native code that calls back, ends when it is aborted, frees what the loop held, and others still get signals.
// mcs: -r:Mono.Posix.dll
using System;
using System.Threading;
using Mono.Unix;
using Mono.Unix.Native;

static class Program
{
    static int OpenFiles()
    {
        return System.IO.Directory.GetFileSystemEntries("/proc/self/fd").Length;
    }

    static void Main()
    {
        var signal = new UnixSignal(Signum.SIGUSR1);
        int before = 0;
        for (int i = 0; i < 5; i++)
        {
            var waiting = new ManualResetEvent(false);
            string end = "none";
            var thread = new Thread(() =>
            {
                try
                {
                    waiting.Set();
                    signal.WaitOne();
                    end = "returned";
                }
                catch (ThreadAbortException)
                {
                    end = "aborted";
                    Thread.ResetAbort();
                }
            });
            thread.Start();
            waiting.WaitOne();
            // Half of the aborts come while the thread is on its way into the loop.
            if (i % 2 == 0)
                Thread.Sleep(50);
            thread.Abort();
            thread.Join();
            Console.WriteLine(end);
            if (i == 0)
                before = OpenFiles();
        }
        Console.WriteLine(OpenFiles() - before);

        // In a finally block the abort waits for the signal.
        var started = new ManualResetEvent(false);
        bool returned = false, aborted = false;
        var last = new Thread(() =>
        {
            try
            {
                try { }
                finally
                {
                    started.Set();
                    returned = signal.WaitOne(10000, false);
                }
                Thread.Sleep(0);
            }
            catch (ThreadAbortException)
            {
                aborted = true;
            }
        });
        last.Start();
        started.WaitOne();
        var aborter = new Thread(() => last.Abort());
        aborter.Start();
        while ((last.ThreadState & ThreadState.AbortRequested) == 0)
            Thread.Yield();
        while (!last.Join(20))
            Syscall.kill(Syscall.getpid(), Signum.SIGUSR1);
        aborter.Join();
        Console.WriteLine("{0} {1}", returned, aborted);
        signal.Dispose();
    }
}
