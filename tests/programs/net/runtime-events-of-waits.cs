// What listeners for every detail get: the pool's threads and its callbacks of handles, overlapped operations, waits;
// each with its fields. A listener gets what one of its keywords names, at its level.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Program {
    const EventKeywords Collections = (EventKeywords) 1, Exceptions = (EventKeywords) 0x8000, Threading = (EventKeywords) 0x10000,
        Transfer = (EventKeywords) 0x80000000, Monitoring = (EventKeywords) 0x200000000, Waits = (EventKeywords) 0x40000000000;

    class Listener : EventListener {
        readonly List<EventWrittenEventArgs> events = new ();
        EventSource? runtime;

        protected override void OnEventSourceCreated (EventSource source) {
            if (source.Name == "Microsoft-Windows-DotNETRuntime")
                runtime = source;
        }

        public void Listen (EventLevel level, EventKeywords keywords) => EnableEvents (runtime!, level, keywords);

        protected override void OnEventWritten (EventWrittenEventArgs e) {
            lock (events)
                events.Add (e);
        }

        EventWrittenEventArgs [] Named (string name) {
            lock (events)
                return events.Where (e => e.EventName == name).ToArray ();
        }

        // Prints the first event of this name that is wanted, its fields as `show` says.
        public void Print (string name, Func<EventWrittenEventArgs, bool> wanted, Func<string, object?, object?>? show = null) {
            for (int i = 0; i < 1000; i++) {
                foreach (var e in Named (name).Where (wanted)) {
                    var fields = e.PayloadNames!.Zip (e.Payload!, (field, value) => {
                        var shown = show == null ? value : show (field, value);
                        return $" {field}={shown} ({value!.GetType ().Name})";
                    });
                    Console.WriteLine ($"{name} {e.EventId} {e.Level} {(ulong) e.Keywords & 0xffffffffffff:x}{string.Concat (fields)}");
                    return;
                }
                Thread.Sleep (10);
            }
            Console.WriteLine ("never came: " + name);
        }

        public void Print (string name) => Print (name, _ => true);
        public bool Has (string name) => Named (name).Length != 0;
    }

    static object? Field (EventWrittenEventArgs e, string name) => e.Payload! [e.PayloadNames!.IndexOf (name)];
    static object? Counted (string name, object? value) => name.EndsWith ("Count") ? Convert.ToInt64 (value) >= 1 : value;
    static object? NotZero (string name, object? value) => value is IntPtr word ? word != 0 : value;

    static void OfPool () {
        using var listener = new Listener ();
        listener.Listen (EventLevel.Verbose, Threading);
        ThreadPool.GetMinThreads (out int min, out int minIo);
        ThreadPool.SetMinThreads (7, minIo);
        ThreadPool.SetMinThreads (min, minIo);
        listener.Print ("ThreadPoolMinMaxThreads", _ => true, (name, value) => name == "ClrInstanceID" ? value : (ushort) value! >= 1);

        using var together = new Barrier (2);
        Task.WaitAll (Task.Run (together.SignalAndWait), Task.Run (together.SignalAndWait));
        listener.Print ("ThreadPoolWorkerThreadStart", _ => true, Counted);
        Console.WriteLine ("of other keywords: " + (listener.Has ("WaitHandleWaitStart") || listener.Has ("GCStart_V2")));
    }

    static unsafe void OfCallbacks (EventKeywords keywords) {
        using var listener = new Listener ();
        listener.Listen (EventLevel.Verbose, keywords);
        using var signal = new AutoResetEvent (false);
        using var called = new ManualResetEventSlim ();
        var registered = ThreadPool.RegisterWaitForSingleObject (signal, (_, _) => called.Set (), null, -1, false);
        signal.Set ();
        called.Wait ();
        registered.Unregister (null);
        listener.Print ("ThreadPoolIOEnqueue", _ => true, NotZero);
        listener.Print ("ThreadPoolIODequeue", _ => true, NotZero);
        if ((keywords & Threading) != 0) {
            var packed = new Overlapped ().Pack (null, null);
            Overlapped.Free (packed);
            listener.Print ("ThreadPoolIOPack", _ => true, NotZero);
        }
    }

    static void OfWaits () {
        using var listener = new Listener ();
        listener.Listen (EventLevel.Verbose, Waits);
        using var signal = new AutoResetEvent (false);
        signal.WaitOne (20);
        listener.Print ("WaitHandleWaitStart", e => Convert.ToInt64 (Field (e, "WaitSource")) == 0, NotZero);
        listener.Print ("WaitHandleWaitStop");
        var gate = new object ();
        lock (gate)
            Monitor.Wait (gate, 20);
        listener.Print ("WaitHandleWaitStart", e => Convert.ToInt64 (Field (e, "WaitSource")) == 1, NotZero);
        Console.WriteLine ("of other keywords: " + listener.Has ("ThreadPoolWorkerThreadStart"));
    }

    static void Throw (string message) {
        try {
            throw new Exception (message);
        } catch {
        }
    }

    // What is to come may take its time; what comes against all expectation comes soon after it, or in 400 ms.
    static void Of (EventLevel level, EventKeywords keywords, bool exceptions, bool collections) {
        using var listener = new Listener ();
        listener.Listen (level, keywords);
        Throw ("thrown");
        GC.Collect ();
        bool HasCome () => (!exceptions || listener.Has ("ExceptionThrown_V1")) && (!collections || listener.Has ("GCRestartEEEnd_V1"));
        for (int i = 0; i < 1000 && !HasCome (); i++)
            Thread.Sleep (10);
        if (!(exceptions && collections))
            Thread.Sleep (400);
        Console.WriteLine ($"{level} {(long) keywords:x}: exceptions {listener.Has ("ExceptionThrown_V1")},"
            + $" collections {listener.Has ("GCEnd_V1")}");
    }

    static void Main () {
        OfPool ();
        OfCallbacks (Threading);
        OfCallbacks (Transfer);
        OfWaits ();
        Of (EventLevel.Error, Monitoring, exceptions: true, collections: false);
        Of (EventLevel.Critical, Exceptions | Collections, exceptions: false, collections: false);
        Of (EventLevel.Error, Exceptions | Collections, exceptions: true, collections: false);
        Of (EventLevel.Warning, Exceptions | Collections, exceptions: true, collections: false);
        Of (EventLevel.LogAlways, Exceptions | Collections, exceptions: true, collections: true);
        Of (EventLevel.Informational, EventKeywords.None, exceptions: false, collections: false);
        Of (EventLevel.Informational, EventKeywords.All, exceptions: true, collections: true);
    }
}
