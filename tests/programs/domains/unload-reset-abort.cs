// Threads in a domain that is unloaded cannot refuse: Thread.ResetAbort does nothing for them, and they go on outside of the
// domain with an AppDomainUnloadedException, after which they are threads as before. Aborts of another kind can be reset.
using System;
using System.Reflection;
using System.Threading;

class Stubborn : MarshalByRefObject
{
    public void Stay(EventWaitHandle inside)
    {
        inside.Set();
        while (true)
        {
            try
            {
                while (true)
                    Thread.Sleep(20);
            }
            catch (ThreadAbortException)
            {
                Thread.ResetAbort();
            }
        }
    }

    public string ResetsOwnAbort()
    {
        try
        {
            Thread.CurrentThread.Abort();
        }
        catch (ThreadAbortException)
        {
            Thread.ResetAbort();
        }
        return Thread.CurrentThread.ThreadState.ToString();
    }

    public void Relay(Stubborn next, EventWaitHandle inside) { next.Stay(inside); }
}

class StubbornInContext : ContextBoundObject
{
    public void Stay(EventWaitHandle inside)
    {
        inside.Set();
        while (true)
        {
            try
            {
                while (true)
                    Thread.Sleep(20);
            }
            catch (ThreadAbortException)
            {
                Thread.ResetAbort();
            }
        }
    }
}

static class Program
{
    static T In<T>(AppDomain domain)
    {
        return (T) domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, typeof(T).FullName);
    }

    static Thread Run(Action<EventWaitHandle> action)
    {
        EventWaitHandle inside = new ManualResetEvent(false);
        Thread thread = new Thread(() =>
        {
            string end = "no exception";
            try
            {
                action(inside);
            }
            catch (AppDomainUnloadedException)
            {
                end = "unloaded";
            }
            catch (ThreadAbortException)
            {
                end = "aborted";
            }
            bool isAborted = (Thread.CurrentThread.ThreadState & ThreadState.AbortRequested) != 0;
            string again = "not aborted";
            try
            {
                Thread.CurrentThread.Abort("again");
            }
            catch (ThreadAbortException e)
            {
                again = (string) e.ExceptionState;
                Thread.ResetAbort();
            }
            Console.WriteLine("{0}, {1}, {2}", end, isAborted, again);
        });
        thread.Start();
        inside.WaitOne();
        return thread;
    }

    static void Main()
    {
        AppDomain first = AppDomain.CreateDomain("first");
        Stubborn stubborn = In<Stubborn>(first);
        Console.WriteLine(stubborn.ResetsOwnAbort());
        Thread thread = Run(stubborn.Stay);
        AppDomain.Unload(first);
        thread.Join();

        AppDomain second = AppDomain.CreateDomain("second");
        thread = Run(In<StubbornInContext>(second).Stay);
        AppDomain.Unload(second);
        thread.Join();

        // The domain in the middle goes: the call into the last one ends, too.
        AppDomain middle = AppDomain.CreateDomain("middle"), last = AppDomain.CreateDomain("last");
        Stubborn relay = In<Stubborn>(middle), end = In<Stubborn>(last);
        thread = Run(inside => relay.Relay(end, inside));
        AppDomain.Unload(middle);
        thread.Join();
        Console.WriteLine(end.ResetsOwnAbort());
        AppDomain.Unload(last);

        try
        {
            Thread.ResetAbort();
        }
        catch (ThreadStateException e)
        {
            Console.WriteLine(e.Message);
        }
    }
}
