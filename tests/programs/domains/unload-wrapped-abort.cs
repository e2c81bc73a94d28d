// A thread that makes another exception of the abort by which its domain is unloaded ends, and the process goes on.
using System;
using System.Reflection;
using System.Threading;

public class Part : MarshalByRefObject
{
    public void Start ()
    {
        var sleeps = new ManualResetEvent (false);
        new Thread (() => {
            try {
                sleeps.Set ();
                Thread.Sleep (Timeout.Infinite);
            } catch (Exception e) {
                throw new InvalidOperationException ("wrapped", e);
            }
        }).Start ();
        ThreadPool.QueueUserWorkItem (_ => {
            try {
                Thread.Sleep (Timeout.Infinite);
            } catch (Exception e) {
                throw new InvalidOperationException ("wrapped", e);
            }
        });
        sleeps.WaitOne ();
        Thread.Sleep (100);
    }
}

static class UnloadWrappedAbort
{
    static void Main ()
    {
        AppDomain domain = AppDomain.CreateDomain ("other");
        var part = (Part) domain.CreateInstanceFromAndUnwrap (Assembly.GetExecutingAssembly ().Location, "Part");
        part.Start ();
        AppDomain.Unload (domain);
        Console.WriteLine ("unloaded");
        var done = new ManualResetEvent (false);
        ThreadPool.QueueUserWorkItem (_ => done.Set ());
        done.WaitOne ();
        Console.WriteLine ("goes on");
    }
}
