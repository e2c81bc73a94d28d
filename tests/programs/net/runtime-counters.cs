// What the runtime counts: exceptions, contended locks, allocations of all threads; and a listener for the events of
// the runtime, which does not disturb it.

using System;
using System.Collections.Generic;
using System.Diagnostics.Metrics;
using System.Diagnostics.Tracing;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Program {
    class Listener : EventListener {
        protected override void OnEventSourceCreated (EventSource source) {
            if (source.Name is "Microsoft-Windows-DotNETRuntime" or "System.Threading.Tasks.TplEventSource")
                EnableEvents (source, EventLevel.Verbose, EventKeywords.All);
        }
    }

    static void Contention () {
        var gate = new object ();
        var before = Monitor.LockContentionCount;
        using var entered = new ManualResetEventSlim ();
        Thread waiter;
        lock (gate) {
            waiter = new Thread (() => {
                entered.Set ();
                lock (gate) { }
            });
            waiter.Start ();
            entered.Wait ();
            while ((waiter.ThreadState & ThreadState.WaitSleepJoin) == 0)
                Thread.Sleep (1);
        }
        waiter.Join ();
        Console.WriteLine ("contended: " + (Monitor.LockContentionCount > before));
    }

    static byte []? kept;

    static void Allocations () {
        var before = GC.GetTotalAllocatedBytes ();
        var own = GC.GetAllocatedBytesForCurrentThread ();
        var thread = new Thread (() => { for (int i = 0; i < 100; i++) kept = new byte [100_000]; });
        thread.Start ();
        thread.Join ();
        // Threads share a carrier in green and M:N.
        Console.WriteLine ("by all threads: " + (GC.GetTotalAllocatedBytes () - before >= 9_000_000));
        Console.WriteLine ("in order: " + (GC.GetAllocatedBytesForCurrentThread () >= own));
    }

    static void Limits () {
        GC.RefreshMemoryLimit ();
        try {
            GC.RegisterNoGCRegionCallback (1000, () => { });
        } catch (InvalidOperationException e) {
            Console.WriteLine (e.Message);
        }
    }

    static void Instruments () {
        var seen = new SortedSet<string> ();
        using var listener = new MeterListener ();
        listener.InstrumentPublished = (instrument, to) => {
            if (instrument.Meter.Name == "System.Runtime")
                to.EnableMeasurementEvents (instrument);
        };
        listener.SetMeasurementEventCallback<long> ((instrument, _, _, _) => seen.Add (instrument.Name));
        listener.SetMeasurementEventCallback<double> ((instrument, _, _, _) => seen.Add (instrument.Name));
        listener.Start ();
        try { throw new Exception (); } catch { }
        GC.Collect ();
        listener.RecordObservableInstruments ();
        foreach (var name in seen)
            Console.WriteLine (name);
    }

    static void Main () {
        Contention ();
        Allocations ();
        Limits ();
        Instruments ();
        using var listener = new Listener ();
        var gate = new object ();
        Parallel.For (0, 8, _ => { lock (gate) Thread.Sleep (1); });
        Task.WaitAll (Enumerable.Range (0, 100).Select (i => Task.Run (() => Thread.Sleep (1))).ToArray ());
        // Long enough for the pool to tell of its decisions.
        Thread.Sleep (1200);
        Task.Run (() => { }).Wait ();
        Console.WriteLine ("listened");
    }
}
