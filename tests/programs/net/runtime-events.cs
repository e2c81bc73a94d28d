// The runtime's own events reach an EventListener: exceptions, collections, contended locks, the thread pool; each with
// its fields, only those that the listener wants, and none after it has stopped listening.
using System;
using System.Collections.Generic;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Program {
    const EventKeywords Collections = (EventKeywords) 1, Contention = (EventKeywords) 0x4000,
        Exceptions = (EventKeywords) 0x8000, Threading = (EventKeywords) 0x10000;

    class Listener : EventListener {
        readonly List<EventWrittenEventArgs> events = new ();
        EventSource? runtime;

        protected override void OnEventSourceCreated (EventSource source) {
            if (source.Name == "Microsoft-Windows-DotNETRuntime")
                runtime = source;
        }

        public void Listen (EventLevel level, EventKeywords keywords) => EnableEvents (runtime!, level, keywords);
        public void Stop () => DisableEvents (runtime!);

        protected override void OnEventWritten (EventWrittenEventArgs e) {
            lock (events)
                events.Add (e);
        }

        public EventWrittenEventArgs [] Named (string name) {
            lock (events)
                return events.Where (e => e.EventName == name).ToArray ();
        }

        public int Count { get { lock (events) return events.Count; } }

        // Events arrive some time after they happen.
        public EventWrittenEventArgs [] Await (string name, int count, Func<EventWrittenEventArgs, bool>? wanted = null) {
            for (int i = 0; i < 1000; i++) {
                var found = Named (name).Where (e => wanted == null || wanted (e)).ToArray ();
                if (found.Length >= count)
                    return found;
                Thread.Sleep (10);
            }
            Console.WriteLine ("never came: " + name);
            return new EventWrittenEventArgs [0];
        }
    }

    static object? Field (EventWrittenEventArgs e, string name) => e.Payload! [e.PayloadNames!.IndexOf (name)];

    class Own<T> : Exception {
        public Own (string? message, Exception? inner = null) : base (message, inner) { }
        public override string Message => "computed";
    }

    static void Throw (Exception e) {
        try {
            throw e;
        } catch {
        }
    }

    static void OfExceptions (Listener listener) {
        listener.Listen (EventLevel.Error, Exceptions);
        Throw (new InvalidOperationException ("first"));
        Throw (new Own<int> ("given", new Exception ()));
        Throw (new Own<string> (null));
        Throw (new ArgumentException ("a\u00e4\u4e2d\ud83d\ude00"));
        foreach (var e in listener.Await ("ExceptionThrown_V1", 4)) {
            var hresult = (uint) Field (e, "ExceptionHRESULT")!;
            Console.WriteLine ($"{e.EventId} {e.Level} {e.Version} {Field (e, "ExceptionType")}: {Field (e, "ExceptionMessage")}"
                + $" {hresult:x} {Field (e, "ExceptionFlags")}");
        }
        GC.Collect ();
        listener.Stop ();
        var before = listener.Count;
        Throw (new InvalidOperationException ("unheard"));
        Thread.Sleep (100);
        Console.WriteLine ("after the end: " + (listener.Count - before));
        Console.WriteLine ("of other keywords: " + listener.Named ("GCStart_V2").Length);
    }

    static void OfCollections (Listener listener) {
        var began = DateTime.UtcNow;
        listener.Listen (EventLevel.Informational, Collections);
        var before = GC.CollectionCount (0);
        GC.Collect ();
        var start = listener.Await ("GCStart_V2", 1, e => (uint) Field (e, "Count")! == before + 1) [0];
        var end = listener.Await ("GCEnd_V1", 1, e => (uint) Field (e, "Count")! == before + 1) [0];
        Console.WriteLine ($"{start.EventId} {end.EventId} {string.Join (" ", start.PayloadNames!)}");
        Console.WriteLine ($"generation {Field (start, "Depth")} {Field (end, "Depth")}, asked for: {Field (start, "Reason")}");
        var times = new [] { "GCSuspendEEBegin_V1", "GCSuspendEEEnd_V1", "GCStart_V2", "GCEnd_V1", "GCRestartEEBegin_V1", "GCRestartEEEnd_V1" }
            .Select (name => listener.Await (name, 1).First ().TimeStamp).ToArray ();
        Console.WriteLine ("in order: " + times.SequenceEqual (times.Order ()));
        Console.WriteLine ("when it was: " + (times [0] > began.AddSeconds (-1) && times [5] < DateTime.UtcNow.AddSeconds (1)));
        var stats = listener.Await ("GCHeapStats_V2", 1) [0];
        var sizes = stats.PayloadNames!.Where (n => n.StartsWith ("GenerationSize")).Sum (n => (long) (ulong) Field (stats, n)!);
        Console.WriteLine ("heap: " + (sizes > 10_000));
        listener.Stop ();
    }

    static void OfLocks (Listener listener) {
        listener.Listen (EventLevel.Informational, Contention);
        var gate = new object ();
        var name = "";
        Thread waiter;
        lock (gate) {
            using var entered = new ManualResetEventSlim ();
            waiter = new Thread (() => {
                entered.Set ();
                lock (gate)
                    name = "entered";
            });
            waiter.Start ();
            entered.Wait ();
            while ((waiter.ThreadState & ThreadState.WaitSleepJoin) == 0)
                Thread.Sleep (1);
            Thread.Sleep (30);
        }
        waiter.Join ();
        var stop = listener.Await ("ContentionStop", 1, e => (double) Field (e, "DurationNs")! > 25e6) [0];
        var start = listener.Await ("ContentionStart", 1) [0];
        Console.WriteLine ($"{name} {start.EventId} {stop.EventId} {Field (start, "ContentionFlags")} {Field (stop, "ContentionFlags")}");
        listener.Stop ();
    }

    static void OfPool (Listener listener) {
        listener.Listen (EventLevel.Informational, Threading);
        using var together = new Barrier (2);
        Task.WaitAll (Task.Run (together.SignalAndWait), Task.Run (together.SignalAndWait));
        var start = listener.Await ("ThreadPoolWorkerThreadStart", 1) [0];
        Console.WriteLine ($"{start.EventId} {(uint) Field (start, "ActiveWorkerThreadCount")! >= 1}");
        listener.Stop ();
    }

    // The second one begins while the reader of the first one's events may not have begun.
    static void OfTwo (Listener listener) {
        for (int i = 0; i < 20; i++) {
            using var second = new Listener ();
            listener.Listen (EventLevel.Error, Exceptions);
            second.Listen (EventLevel.Informational, Collections);
            Throw (new Exception ("of the first " + i));
            GC.Collect ();
            listener.Await ("ExceptionThrown_V1", 1, e => (string) Field (e, "ExceptionMessage")! == "of the first " + i);
            second.Await ("GCEnd_V1", 1);
            if (i % 2 == 0)
                listener.Stop ();
        }
        Console.WriteLine ("two listeners");
        listener.Stop ();
    }

    static void Main () {
        using var listener = new Listener ();
        OfExceptions (listener);
        OfCollections (listener);
        OfLocks (listener);
        OfPool (listener);
        OfTwo (listener);
    }
}
