// A finalizer may ask for a thread that ended, though the objects behind both died in the same collection.
using System;
using System.Threading;

class Keeper {
    public static int asked, ended;
    readonly Thread thread;
    public Keeper(Thread thread) { this.thread = thread; }
    ~Keeper() {
        if (thread.Join(10000) && !thread.IsAlive && (thread.ThreadState & ThreadState.Stopped) != 0) Interlocked.Increment(ref ended);
        Interlocked.Increment(ref asked);
    }
}

class Program {
    const int Threads = 50;

    static void MakeGarbage() {
        for (int i = 0; i < Threads; i++) {
            var thread = new Thread(() => Thread.Sleep(0)) { Name = "thread " + i };
            thread.Start();
            thread.Join();
            new Keeper(thread);
        }
    }

    static void Main() {
        for (int round = 0; round < 3; round++) {
            var maker = new Thread(MakeGarbage);
            maker.Start();
            maker.Join();
            for (int i = 0; i < 20 && Keeper.asked < Threads * (round + 1); i++) {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
        // A conservative scan may find a few of them for ever.
        Console.WriteLine(Keeper.asked > Threads * 2 ? "asked" : "asked " + Keeper.asked);
        Console.WriteLine(Keeper.ended == Keeper.asked ? "all had ended" : Keeper.ended + " of " + Keeper.asked);
    }
}
