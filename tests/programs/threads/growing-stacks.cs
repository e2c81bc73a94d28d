// Threads whose stacks begin small, and grow at the entry of nearly every method: values, arguments in memory, exceptions, filters,
// callbacks, aborts, collections and waits on both parts of a stack.
// env: SAKI_SMALL_STACKS=0:1200
// net: skip Thread.Abort
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    struct Triple { public long A, B, C; public override string ToString() { return A + "/" + B + "/" + C; } }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Depth(int n) { return n == 0 ? 0 : Depth(n - 1) + 1; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Many(int a, long b, string c, double d, object e, Triple f, int g, long h, string i, double j, byte k, short l, string m, double n,
                       double o, double p, double q, double r, double s, double t, double u, int v) {
        return string.Join(" ", new object[] { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, Depth(50) });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Triple Sum(Triple a, Triple b) { Depth(3); return new Triple { A = a.A + b.A, B = a.B + b.B, C = a.C + b.C }; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Change(ref int a, out string b, ref Triple c) { a += (int) Depth(7); b = "out " + a; c.B += a; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Mix(double x, float y, int z) { return x * y + z + Depth(2); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Throw(int n, List<string> log) {
        try {
            if (n == 0) throw new InvalidOperationException("deep");
            return Throw(n - 1, log) + 1;
        }
        finally { if (n % 10 == 0) log.Add("finally " + n); }
    }

    static bool Note(List<string> log, Exception e) { log.Add("filter " + e.Message + Depth(20)); return true; }

    static void Exceptions() {
        var log = new List<string>();
        for (int round = 0; round < 3; round++) {
            try { Throw(30, log); }
            catch (InvalidOperationException e) when (Note(log, e)) { log.Add("caught " + new StackTrace(e).FrameCount); }
        }
        Console.WriteLine(string.Join(", ", log));
        int caught = 0;
        for (int n = 0; n < 200; n++) {
            try { Null(n % 5, null); } catch (NullReferenceException) { caught++; }
            try { Null(n % 5, new int[0]); } catch (IndexOutOfRangeException) { caught++; }
        }
        Console.WriteLine("faults: " + caught);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Null(int n, int[] items) { return n == 0 ? items[3] : Null(n - 1, items) + 1; }

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    static int calls;

    static int CompareItems(IntPtr a, IntPtr b) {
        calls++;
        Depth(10);
        return Marshal.ReadInt32(a).CompareTo(Marshal.ReadInt32(b));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Sorted(int n) {
        if (n > 0) return Sorted(n - 1);
        var items = new[] { 5, 3, 9, 1, 7 };
        qsort(items, (IntPtr) items.Length, (IntPtr) 4, CompareItems);
        return string.Join(",", items) + (calls > 0);
    }

    static string ThroughCallback() {
        try { qsort(new[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => (int) Depth(5) + Throw(3, new List<string>())); return "none"; }
        catch (InvalidOperationException e) { return e.Message; }
    }

    class Node { public Node Next; public int Value; public byte[] Rest = new byte[100]; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Chain(int n, Node outer) {
        var own = new Node { Next = outer, Value = n };
        if (n == 0) { GC.Collect(); return own.Value + own.Next.Value; }
        if (n % 20 == 0) for (int i = 0; i < 1000; i++) new Node();
        int inner = Chain(n - 1, own);
        return inner + own.Value - own.Next.Value + outer.Rest.Length;
    }

    static void Aborted() {
        var ready = new ManualResetEvent(false);
        string end = null;
        var t = new Thread(() => {
            try { Wait(5, ready); }
            catch (ThreadAbortException) { end = "aborted " + Depth(5); Thread.ResetAbort(); }
        });
        t.Start();
        ready.WaitOne();
        t.Abort();
        t.Join();
        Console.WriteLine(end);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Wait(int n, ManualResetEvent ready) {
        if (n > 0) return Wait(n - 1, ready) + 1;
        ready.Set();
        for (;;) Depth(1);
    }

    static readonly object gate = new object();
    static int turn;

    static void TakeTurns() {
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++) {
            int mine = i;
            threads[i] = new Thread(() => { for (int n = 0; n < 50; n++) Turn(n % 7, mine); });
            threads[i].Start();
        }
        foreach (Thread t in threads) t.Join();
        Console.WriteLine("turns: " + turn);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Turn(int n, int mine) {
        if (n > 0) { Turn(n - 1, mine); return; }
        lock (gate) {
            while (turn % 4 != mine) Monitor.Wait(gate);
            turn++;
            Monitor.PulseAll(gate);
        }
    }

    static IEnumerable<long> Counted(int n) { for (int i = 0; i < n; i++) yield return Depth(i); }

    static void All() {
        for (int round = 0; round < 3; round++) {
            Console.WriteLine(Depth(round * 3000));
            Console.WriteLine(Many(1, 2, "c", 4, "e", new Triple { A = 6 }, 7, 8, "i", 10, 11, 12, "m", 14, 15, 16, 17, 18, 19, 20, 21, 22));
            Console.WriteLine(Sum(new Triple { A = 1, B = 2, C = 3 }, new Triple { A = 10, B = 20, C = 30 }));
            int a = 1;
            string b;
            var c = new Triple { B = 100 };
            Change(ref a, out b, ref c);
            Console.WriteLine(a + " " + b + " " + c + " " + Mix(2, 3, 4));
            Console.WriteLine(Sorted(round) + " " + ThroughCallback());
        }
        Exceptions();
        Console.WriteLine(Chain(60, new Node()));
        long sum = 0;
        foreach (long n in Counted(30)) sum += n;
        Console.WriteLine(sum);
        RuntimeHelpers.EnsureSufficientExecutionStack();
        Func<int, Func<int, int>> add = x => y => x + y + (int) Depth(4);
        Console.WriteLine(add(1)(2));
    }

    static void Run(string what, Action action) {
        var t = new Thread(() => action());
        t.Start();
        t.Join();
        Console.WriteLine(what + " done");
    }

    static int Endless(int n) { return Endless(n + 1) + 1; }

    static void Main() {
        Run("all", All);
        Run("aborts", Aborted);
        Run("turns", TakeTurns);
        Run("overflow", () => {
            for (int i = 0; i < 2; i++)
                try { Endless(0); } catch (StackOverflowException) { Console.WriteLine("overflow"); }
        });
        int done = 0;
        var threads = new Thread[50];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => { for (int n = 0; n < 20; n++) if (Depth(100 + n) == 100 + n) Interlocked.Increment(ref done); });
            threads[i].Start();
        }
        foreach (Thread t in threads) t.Join();
        Console.WriteLine(done);
    }
}
