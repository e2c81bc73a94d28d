// What all threads of the domain are doing, as the class library's Thread.Mono_GetStackTraces tells: waiting and running ones, and the caller.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;
using System.Threading;

static class Program {
    static readonly ManualResetEvent end = new ManualResetEvent (false);
    static readonly CountdownEvent started = new CountdownEvent (2);
    static volatile bool spins = true;

    static void Waits ()
    {
        started.Signal ();
        end.WaitOne ();
    }

    static void Spins ()
    {
        started.Signal ();
        while (spins)
            ;
    }

    static Dictionary<Thread, StackTrace> Traces ()
    {
        var method = typeof (Thread).GetMethod ("Mono_GetStackTraces", BindingFlags.NonPublic | BindingFlags.Static);
        return (Dictionary<Thread, StackTrace>) method.Invoke (null, null);
    }

    static bool Shows (StackTrace trace, string method)
    {
        return trace.GetFrames ().Any (f => f.GetMethod () != null && f.GetMethod ().Name == method) && trace.ToString ().Contains ("Program." + method);
    }

    static void Main ()
    {
        var waits = new Thread (Waits) { Name = "waits" };
        var spinning = new Thread (Spins) { Name = "spins" };
        waits.Start ();
        spinning.Start ();
        started.Wait ();
        Dictionary<Thread, StackTrace> traces;
        do {
            traces = Traces ();
        } while (!Shows (traces[waits], "Waits") || !Shows (traces[spinning], "Spins"));
        Console.WriteLine ("{0} {1}", waits.Name, Shows (traces[waits], "Spins"));
        Console.WriteLine (Shows (traces[Thread.CurrentThread], "Main"));
        // While threads come and go.
        int wrong = 0;
        for (int i = 0; i < 100; i++) {
            var brief = new Thread (() => GC.KeepAlive (new byte[10000]));
            brief.Start ();
            foreach (var pair in Traces ()) {
                pair.Value.ToString ();
                if (pair.Key.ManagedThreadId <= 0)
                    wrong++;
            }
            if (i % 10 == 0)
                GC.Collect ();
        }
        Console.WriteLine (wrong);
        spins = false;
        end.Set ();
        waits.Join ();
        spinning.Join ();
        Console.WriteLine (Traces ().ContainsKey (waits));

        // Each domain has Thread objects of its own.
        var domain = AppDomain.CreateDomain ("other");
        domain.DoCallBack (Other);
    }

    static void Other ()
    {
        Console.WriteLine (Traces ().ContainsKey (Thread.CurrentThread));
    }
}
