// GC handles: allocation, target and free per kind, and target alone, at 1, 2, 4 and 8 threads.
// Prints "name nanoseconds" a line: wall time of a round over the operations of one thread, best of five rounds.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;

static class Handles
{
    const int Rounds = 5;

    static void Cycle(GCHandleType kind, int count)
    {
        object target = new byte[16];
        object last = null;
        for (int i = 0; i < count; i++)
        {
            GCHandle handle = GCHandle.Alloc(target, kind);
            last = handle.Target;
            handle.Free();
        }
        if (last != target)
            throw new Exception("wrong target");
        GC.KeepAlive(target);
    }

    static void Read(GCHandleType kind, int count)
    {
        object target = new byte[16];
        GCHandle handle = GCHandle.Alloc(target, kind);
        object last = null;
        for (int i = 0; i < count; i++)
            last = handle.Target;
        handle.Free();
        if (last != target)
            throw new Exception("wrong target");
        GC.KeepAlive(target);
    }

    static double Measure(Action<GCHandleType, int> body, GCHandleType kind, int threads, int count)
    {
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            var workers = new Thread[threads];
            var start = new ManualResetEvent(false);
            for (int i = 0; i < threads; i++)
            {
                workers[i] = new Thread(() => { start.WaitOne(); body(kind, count); });
                workers[i].Start();
            }
            Thread.Sleep(1);
            Stopwatch watch = Stopwatch.StartNew();
            start.Set();
            foreach (Thread worker in workers)
                worker.Join();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / count);
        }
        return best;
    }

    static void Main(string[] args)
    {
        int count = args.Length > 0 ? int.Parse(args[0]) : 400000;
        var kinds = new[] { GCHandleType.Weak, GCHandleType.WeakTrackResurrection, GCHandleType.Normal, GCHandleType.Pinned };
        var names = new[] { "weak", "weak-track", "normal", "pinned" };
        Cycle(GCHandleType.Normal, 50000);
        Read(GCHandleType.Normal, 50000);
        foreach (int threads in new[] { 1, 2, 4, 8 })
        {
            for (int i = 0; i < kinds.Length; i++)
            {
                Console.WriteLine("cycle-{0}-{1} {2:F1}", names[i], threads, Measure(Cycle, kinds[i], threads, count));
                Console.WriteLine("target-{0}-{1} {2:F1}", names[i], threads, Measure(Read, kinds[i], threads, count));
            }
        }
    }
}
