// Between BeginThreadAffinity and the EndThreadAffinity that belongs to it a thread stays on its OS thread, whatever it waits for.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [DllImport("libc")]
    static extern IntPtr pthread_self();

    [DllImport("libc")]
    static extern int usleep(uint microseconds);

    static readonly object gate = new object();
    static volatile bool stop;
    static int moved;

    static void WaitInAllWays(int round) {
        Thread.Sleep(round % 3);
        Thread.Yield();
        lock (gate) Monitor.Wait(gate, 1);
        lock (gate) Monitor.PulseAll(gate);
        usleep(200);
        if (round % 16 == 0) GC.Collect(0);
    }

    static void Check(IntPtr own, int rounds) {
        for (int round = 0; round < rounds; round++) {
            WaitInAllWays(round);
            if (pthread_self() != own) Interlocked.Increment(ref moved);
        }
    }

    static void Pinned() {
        Thread.EndThreadAffinity();
        Thread.BeginThreadAffinity();
        IntPtr own = pthread_self();
        Check(own, 20);
        Thread.BeginThreadAffinity();
        Check(own, 5);
        Thread.EndThreadAffinity();
        Check(own, 20);
        Thread.EndThreadAffinity();
        // Wherever it is from now on, it goes on.
        for (int round = 0; round < 5; round++) WaitInAllWays(round);
        Thread.EndThreadAffinity();
    }

    static void Main() {
        var others = new Thread[20];
        for (int i = 0; i < others.Length; i++) {
            others[i] = new Thread(() => { for (int round = 0; !stop; round++) WaitInAllWays(round); });
            others[i].Start();
        }
        var pinned = new Thread[6];
        for (int i = 0; i < pinned.Length; i++) { pinned[i] = new Thread(Pinned); pinned[i].Start(); }
        foreach (Thread thread in pinned) thread.Join();
        stop = true;
        foreach (Thread thread in others) thread.Join();
        Console.WriteLine("moved: " + moved);

        // One that computes without end keeps nobody from his turn.
        stop = false;
        var hogs = new Thread[4];
        for (int i = 0; i < hogs.Length; i++) {
            hogs[i] = new Thread(() => { Thread.BeginThreadAffinity(); while (!stop) { } Thread.EndThreadAffinity(); });
            hogs[i].Start();
        }
        int turns = 0;
        for (; turns < 10; turns++) Thread.Sleep(1);
        stop = true;
        foreach (Thread hog in hogs) hog.Join();
        Console.WriteLine("turns beside hogs: " + turns);
    }
}
