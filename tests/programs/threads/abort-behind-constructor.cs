// An abort that comes while a class constructor runs is thrown behind the constructor, before the code that needed the class;
// the class stays usable. An abort of an asynchronous call ends the call alone: EndInvoke throws its exception, once.
using System;
using System.Threading;

static class AbortBehindConstructor
{
    static readonly ManualResetEvent inside = new ManualResetEvent(false);
    static readonly ManualResetEvent goOn = new ManualResetEvent(false);

    sealed class Slow
    {
        public static readonly int Value;

        static Slow()
        {
            inside.Set();
            goOn.WaitOne();
            Value = 42;
        }
    }

    static void Constructor()
    {
        string end = "nothing";
        var thread = new Thread(() =>
        {
            try
            {
                new Slow();
                end = "went on";
            }
            catch (ThreadAbortException)
            {
                end = "aborted";
                Thread.ResetAbort();
            }
        });
        thread.Start();
        inside.WaitOne();
        thread.Abort();
        goOn.Set();
        thread.Join();
        Console.WriteLine("{0}, {1}", end, Slow.Value);
    }

    static void AsynchronousCall()
    {
        Thread worker = null;
        var started = new ManualResetEvent(false);
        Action call = () =>
        {
            worker = Thread.CurrentThread;
            started.Set();
            Thread.Sleep(Timeout.Infinite);
        };
        IAsyncResult result = call.BeginInvoke(null, null);
        started.WaitOne();
        worker.Abort();
        try
        {
            call.EndInvoke(result);
            Console.WriteLine("returned");
        }
        catch (ThreadAbortException)
        {
            Console.WriteLine("thrown by EndInvoke");
        }
        Console.WriteLine("not thrown again");
        var done = new ManualResetEvent(false);
        ThreadPool.QueueUserWorkItem(unused => done.Set());
        Console.WriteLine("the pool works: {0}", done.WaitOne(20000));
    }

    static void Main()
    {
        Constructor();
        AsynchronousCall();
    }
}
