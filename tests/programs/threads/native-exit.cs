// A thread that native code ends is over like others: Join returns, its mutexes are abandoned, what it held open in native frames is left,
// and other threads go on.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [DllImport("libc")]
    static extern void pthread_exit(IntPtr value);

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    static volatile bool stop;
    static int notReached;

    static void Exit() {
        pthread_exit(IntPtr.Zero);
        Interlocked.Increment(ref notReached);
    }

    static void ExitInCallback() {
        qsort(new int[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => { Exit(); return 0; });
        Interlocked.Increment(ref notReached);
    }

    static bool IsOver(Thread thread) { return !thread.IsAlive && thread.ThreadState == ThreadState.Stopped; }

    static void Main() {
        int ticks = 0;
        var ticker = new Thread(() => { while (!stop) { ticks++; Thread.Sleep(1); } });
        ticker.Start();

        var single = new Thread(Exit);
        single.Start();
        Console.WriteLine("joined: " + single.Join(10000) + ", over: " + IsOver(single));

        var mutex = new Mutex();
        var owner = new Thread(() => { mutex.WaitOne(); Exit(); });
        owner.Start();
        owner.Join();
        try { mutex.WaitOne(10000); Console.WriteLine("not abandoned"); } catch (AbandonedMutexException) { Console.WriteLine("abandoned"); }

        int over = 0;
        for (int round = 0; round < 10; round++) {
            var threads = new Thread[12];
            for (int i = 0; i < threads.Length; i++) {
                int kind = i % 3;
                threads[i] = new Thread(() => {
                    Thread.Sleep(kind);
                    if (kind == 2) ExitInCallback();
                    try { Exit(); } finally { Interlocked.Increment(ref notReached); }
                });
                threads[i].Start();
            }
            foreach (Thread thread in threads) { thread.Join(); if (IsOver(thread)) over++; }
            GC.Collect();
        }
        Console.WriteLine("over: " + over + ", gone on: " + notReached);

        int before = Volatile.Read(ref ticks);
        while (Volatile.Read(ref ticks) < before + 5) Thread.Sleep(1);
        var tasks = new CountdownEvent(20);
        for (int i = 0; i < 20; i++) ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(1); tasks.Signal(); });
        Console.WriteLine("pool: " + tasks.Wait(10000));
        stop = true;
        ticker.Join();

        // The process ends although this foreground thread never came back.
        new Thread(Exit).Start();
    }
}
