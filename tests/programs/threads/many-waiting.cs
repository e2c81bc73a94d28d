// Thousands of threads and work items that wait at the same time, for events, locks, each other and the clock.
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class Program {
    const int Count = 1000;

    static void Main() {
        var start = new ManualResetEvent(false);
        var gate = new object();
        int passed = 0, pulsed = 0, joined = 0;
        var threads = new Thread[Count];
        for (int i = 0; i < Count; i++) {
            int id = i;
            threads[i] = new Thread(() => {
                start.WaitOne();
                lock (gate) passed++;
                lock (gate) { while (passed < Count) Monitor.Wait(gate); pulsed++; Monitor.PulseAll(gate); }
                if (id > 0) { threads[id - 1].Join(); Interlocked.Increment(ref joined); }
            }, 256 << 10);
        }
        foreach (Thread thread in threads) thread.Start();
        start.Set();
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine(passed + " " + pulsed + " " + joined);

        var ring = new SemaphoreSlim[100];
        for (int i = 0; i < ring.Length; i++) ring[i] = new SemaphoreSlim(0);
        int hops = 0;
        var members = ring.Select((own, i) => new Thread(() => {
            for (int round = 0; round < 20; round++) { own.Wait(); hops++; ring[(i + 1) % ring.Length].Release(); }
        }, 256 << 10)).ToArray();
        foreach (Thread member in members) member.Start();
        ring[0].Release();
        foreach (Thread member in members) member.Join();
        Console.WriteLine(hops);

        var tasks = Enumerable.Range(0, 64).Select(i => Task.Run(() => { Thread.Sleep(5); return i; })).ToArray();
        Task.WaitAll(tasks);
        Console.WriteLine(tasks.Sum(task => task.Result));

        int interrupted = 0;
        var sleepers = Enumerable.Range(0, 100).Select(i => new Thread(() => {
            try { Thread.Sleep(Timeout.Infinite); } catch (ThreadInterruptedException) { Interlocked.Increment(ref interrupted); }
        }, 256 << 10)).ToArray();
        foreach (Thread sleeper in sleepers) sleeper.Start();
        foreach (Thread sleeper in sleepers) sleeper.Interrupt();
        foreach (Thread sleeper in sleepers) sleeper.Join();
        Console.WriteLine("interrupted: " + interrupted);
        GC.Collect();
    }
}
