// Threads whose stacks begin small and grow when they are full: as deep as those that begin large, again and again, in native callbacks,
// with large frames, and up to an overflow.
// env: SAKI_SMALL_STACKS=0
// mcs: -unsafe
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Depth(int n) { return n == 0 ? 0 : Depth(n - 1) + 1; }

    unsafe struct Large { public fixed long Items[600]; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long DepthOfLarge(int n) {
        Large own;
        own.Items[n % 600] = n;
        return n == 0 ? 0 : DepthOfLarge(n - 1) + own.Items[n % 600] / n;
    }

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    static long deepest;

    static int DownThroughNative(int n) {
        if (n == 0) { deepest = Depth(20000); return 0; }
        qsort(new[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => DownThroughNative(n - 1));
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Throw(int n) { if (n == 0) throw new InvalidOperationException(); return Throw(n - 1) + 1; }

    static int Endless(int n) { return Endless(n + 1) + 1; }

    static int done, overflows;

    static void Work(int mine) {
        for (int round = 0; round < 4; round++) {
            if (Depth(500 + mine * 10) != 500 + mine * 10 || Depth(5000 + mine) != 5000 + mine || DepthOfLarge(60) != 60) return;
            // At the border.
            for (int depth = 400; depth < 1600; depth += 7) if (Depth(depth) != depth) return;
            try { Throw(3000 + mine); return; } catch (InvalidOperationException) { }
            Thread.Yield();
        }
        Interlocked.Increment(ref done);
    }

    static void Main() {
        var threads = new Thread[20];
        for (int i = 0; i < threads.Length; i++) {
            int mine = i;
            threads[i] = new Thread(() => Work(mine));
            threads[i].Start();
        }
        foreach (Thread t in threads) t.Join();
        Console.WriteLine("deep: " + done);
        var native = new Thread(() => DownThroughNative(100));
        native.Start();
        native.Join();
        Console.WriteLine("through native code: " + deepest);
        for (int i = 0; i < 3; i++) {
            threads[i] = new Thread(() => {
                for (int n = 0; n < 3; n++)
                    try { Endless(0); } catch (StackOverflowException) { if (Depth(3000) == 3000) Interlocked.Increment(ref overflows); }
            }, 1 << 20);
            threads[i].Start();
        }
        for (int i = 0; i < 3; i++) threads[i].Join();
        Console.WriteLine("overflows: " + overflows);
    }
}
