// Requests that come close to the end of the stack: an interrupt or abort that cannot be thrown there for lack of stack is not lost, and
// a thread that overflows again and again can be suspended.
// stress: skip deep stacks make every collection slow
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    const int Depths = 60;
    static readonly object gate = new object();
    static int deepest;
    static bool isMade;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Down(int n, int depth, Action request) {
        deepest = n;
        if (n == depth) request();
        return Down(n + 1, depth, request) + 1;
    }

    static void Wait() { lock (gate) Monitor.Wait(gate, 0); }

    static void InterruptAndWait() {
        Thread.CurrentThread.Interrupt();
        isMade = true;
        Wait();
    }

    // How often an interrupt or abort that was requested at this depth arrives.
    static int Interrupts(int depth) {
        int count = 0;
        try {
            try { Down(0, depth, InterruptAndWait); } catch (StackOverflowException) { }
            Wait();
        } catch (ThreadInterruptedException) { count++; }
        try { Wait(); } catch (ThreadInterruptedException) { count++; }
        return count;
    }

    static int Aborts(int depth) {
        int count = 0;
        try {
            try { Down(0, depth, () => Thread.CurrentThread.Abort()); } catch (StackOverflowException) {
                isMade = (Thread.CurrentThread.ThreadState & ThreadState.AbortRequested) != 0;
            }
            Wait();
        } catch (ThreadAbortException) { Thread.ResetAbort(); count++; }
        return count;
    }

    static void Try(string what, Func<int, int> arrives) {
        // What they do is compiled and initialised.
        arrives(1);
        try { Down(0, -1, null); } catch (StackOverflowException) { }
        int end = deepest, wrong = 0;
        int most = 0;
        for (int depth = end - Depths; depth <= end; depth++) {
            isMade = false;
            int count = arrives(depth);
            if (isMade && count == 0) wrong++;
            most = Math.Max(most, count);
        }
        Console.WriteLine(what + " lost: " + wrong + ", at most: " + most);
    }

    static void Main() {
        var requests = new Thread(() => { Try("interrupts", Interrupts); Try("aborts", Aborts); }, 256 << 10);
        requests.Start();
        requests.Join();

        bool stop = false;
        int caught = 0;
        var victim = new Thread(() => {
            while (!Volatile.Read(ref stop)) try { Down(0, -1, null); } catch (StackOverflowException) { caught++; }
        }, 256 << 10);
        victim.Start();
        int moved = 0;
        for (int i = 0; i < 50; i++) {
#pragma warning disable 618
            victim.Suspend();
            int before = deepest;
            Thread.Sleep(1);
            if (deepest != before) moved++;
            victim.Resume();
#pragma warning restore 618
            Thread.Sleep(1);
        }
        Volatile.Write(ref stop, true);
        victim.Join();
        Console.WriteLine("moved while suspended: " + moved + ", overflows: " + (caught > 10));
    }
}
