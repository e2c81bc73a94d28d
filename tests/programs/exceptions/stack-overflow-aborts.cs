// Stack overflow again and again, a thousand times, while other threads collect and abort.
// timeout: 120
// stress: skip deep stacks make every collection slow
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    static int caught, aborted, ended;
    static CountdownEvent ready;

    static int Down(int n) { return Down(n + 1) + 1; }

    static int DownWithFinally(int n) { try { return DownWithFinally(n + 1) + 1; } finally { Leave(); } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Leave() { Nothing(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nothing() { }

    static int DownWithObjects(int n) {
        var o = new object[n % 7 + 1];
        int result = DownWithObjects(n + 1);
        GC.KeepAlive(o);
        return result;
    }

    static void Recurse(int kind) {
        try {
            switch (kind) {
                case 0: Down(0); break;
                case 1: DownWithFinally(0); break;
                default: DownWithObjects(0); break;
            }
        } catch (StackOverflowException) {
            Interlocked.Increment(ref caught);
        }
    }

    static void Victim(object number) {
        int kind = (int) number % 3;
        try {
            ready.Signal();
            while (true) Recurse(kind);
        } catch (ThreadAbortException) {
            Interlocked.Increment(ref aborted);
            Thread.ResetAbort();
        }
        int before = caught;
        Recurse(kind);
        if (caught > before) Interlocked.Increment(ref ended);
    }

    static void Main() {
        bool stop = false;
        var collector = new Thread(() => { while (!Volatile.Read(ref stop)) { GC.Collect(0); Thread.Sleep(1); } });
        collector.Start();
        for (int round = 0; round < 12; round++) {
            var threads = new Thread[3];
            ready = new CountdownEvent(threads.Length);
            for (int i = 0; i < threads.Length; i++) {
                threads[i] = new Thread(Victim, (256 << 10) + round * 10000);
                threads[i].Start(i);
            }
            ready.Wait();
            Thread.Sleep(round % 10 + 5);
            foreach (Thread t in threads) t.Abort();
            foreach (Thread t in threads) t.Join();
        }
        Volatile.Write(ref stop, true);
        collector.Join();
        Console.WriteLine((aborted == 36) + " " + (ended == aborted) + " " + (caught > 50));
        int again = 0;
        var loop = new Thread(() => { while (again < 1000) try { Down(0); } catch (StackOverflowException) { again++; } }, 256 << 10);
        loop.Start();
        loop.Join();
        Console.WriteLine(again);
    }
}
