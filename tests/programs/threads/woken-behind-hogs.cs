// A thread that another one wakes gets its turn although its waker goes into native code at once and others compute without end.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [DllImport("libc")]
    static extern int usleep(uint microseconds);

    const int Rounds = 20;
    static readonly object gate = new object();
    static bool isWaiting;
    static volatile int woken;
    static volatile bool stop;

    static bool TakesMain() {
        lock (gate) {
            if (!isWaiting) return false;
            isWaiting = false;
            Monitor.Pulse(gate);
            return true;
        }
    }

    static void Main() {
        var hogs = new Thread[4];
        for (int i = 0; i < hogs.Length; i++) {
            hogs[i] = new Thread(() => { while (!stop) { } });
            hogs[i].Start();
        }
        var waker = new Thread(() => {
            for (int round = 1; round <= Rounds; round++) {
                while (!TakesMain()) { }
                usleep(5000);
                while (woken != round) { }
            }
        });
        waker.Start();
        for (int round = 0; round < Rounds; round++) {
            lock (gate) {
                isWaiting = true;
                while (isWaiting) Monitor.Wait(gate);
            }
            woken++;
        }
        stop = true;
        waker.Join();
        foreach (Thread hog in hogs) hog.Join();
        Console.WriteLine("woken: " + woken);
    }
}
