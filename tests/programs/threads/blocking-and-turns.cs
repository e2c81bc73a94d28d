// A thread that blocks in native code, or computes without end, keeps no other from its turn; callbacks from native code wait like
// other code; errno survives a wait.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
    [DllImport("libc", SetLastError = true)]
    static extern int poll(IntPtr descriptors, UIntPtr count, int milliseconds);

    [DllImport("libc", SetLastError = true)]
    static extern int close(int descriptor);

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    static volatile bool stop;

    static void Main() {
        var blocked = new Thread(() => poll(IntPtr.Zero, UIntPtr.Zero, 3000));
        blocked.Start();
        int turns = 0;
        var other = new Thread(() => { for (; turns < 20; turns++) Thread.Sleep(1); });
        other.Start();
        other.Join();
        Console.WriteLine("beside a blocked thread: " + turns + ", it still is: " + blocked.IsAlive);

        var hogs = new Thread[4];
        for (int i = 0; i < hogs.Length; i++) { hogs[i] = new Thread(() => { while (!stop) { } }); hogs[i].Start(); }
        turns = 0;
        other = new Thread(() => { for (; turns < 20; turns++) Thread.Sleep(1); });
        other.Start();
        other.Join();
        stop = true;
        foreach (Thread hog in hogs) hog.Join();
        Console.WriteLine("beside hogs: " + turns);

        int[] sums = new int[4];
        var sorters = new Thread[sums.Length];
        object gate = new object();
        int compared = 0;
        for (int i = 0; i < sorters.Length; i++) {
            int id = i;
            sorters[i] = new Thread(() => {
                int[] items = { 5, 3, 4, 1, 2 };
                qsort(items, (IntPtr) items.Length, (IntPtr) 4, (a, b) => {
                    Thread.Sleep(1);
                    lock (gate) compared++;
                    return Marshal.ReadInt32(a) - Marshal.ReadInt32(b);
                });
                sums[id] = items[0] * 10000 + items[1] * 1000 + items[2] * 100 + items[3] * 10 + items[4];
            });
            sorters[i].Start();
        }
        foreach (Thread sorter in sorters) sorter.Join();
        Console.WriteLine(string.Join(" ", sums) + ", " + (compared >= 16));

        int wrong = 0;
        var closers = new Thread[8];
        for (int i = 0; i < closers.Length; i++) {
            int descriptor = i % 2 == 0 ? -1 : 0;
            closers[i] = new Thread(() => {
                for (int n = 0; n < 200; n++) {
                    if (descriptor < 0 && (close(-1) != -1 || Marshal.GetLastWin32Error() != 9)) Interlocked.Increment(ref wrong);
                    if (descriptor == 0 && (poll(IntPtr.Zero, new UIntPtr(uint.MaxValue), 0) != -1 || Marshal.GetLastWin32Error() == 9)) Interlocked.Increment(ref wrong);
                    Thread.Yield();
                }
            });
            closers[i].Start();
        }
        foreach (Thread closer in closers) closer.Join();
        Console.WriteLine("wrong error numbers: " + wrong);
        blocked.Join();
    }
}
