// Interlocked operations and Thread.MemoryBarrier are full fences: a load behind them is not done before a store ahead
// of them, which even x86-64 allows of plain stores. Locks, built on such operations or given, keep plain accesses in.
using System;
using System.Threading;

class MemoryOrderAtomics
{
    const int Rounds = 4000, Places = 20000, Batch = 500;
    static int[] left = new int[Places], right = new int[Places];
    static int[] leftSaw = new int[Places], rightSaw = new int[Places];

    // Each thread stores, then loads what the other stored: at least one of them must see it. Now and then the threads
    // wait for each other, so that both go on at about the same time.
    static void StoreThenLoad(string name, Action<int[], int[], int[], int> run)
    {
        left = new int[Places];
        right = new int[Places];
        int arrived = 0;
        Action<int[], int[], int[]> side = (mine, others, saw) =>
        {
            for (int first = 0; first < Places; first += Batch)
            {
                Interlocked.Increment(ref arrived);
                for (int i = 0; Volatile.Read(ref arrived) < 2 * (first / Batch + 1); i++)
                    if (i > 20000) Thread.Yield();
                run(mine, others, saw, first);
            }
        };
        var thread = new Thread(() => side(left, right, leftSaw));
        thread.Start();
        side(right, left, rightSaw);
        thread.Join();
        int wrong = 0;
        for (int i = 0; i < Places; i++) if (leftSaw[i] + rightSaw[i] == 0) wrong++;
        Console.WriteLine(name + ": " + (wrong == 0 ? "ok" : wrong + " WRONG"));
    }

    static readonly long[] words = new long[2 * Places];
    delegate T Exchanges<T>(ref T place, T value);
    delegate int Compares(ref int place, int value, int expected);

    // Peterson's lock needs its stores to be seen before its loads.
    static volatile int wants0, wants1, turn;
    static long guarded;

    static void Peterson()
    {
        Action<int> run = self =>
        {
            for (int i = 0; i < Rounds; i++)
            {
                if (self == 0) wants0 = 1; else wants1 = 1;
                turn = 1 - self;
                Thread.MemoryBarrier();
                for (int spins = 0; (self == 0 ? wants1 : wants0) == 1 && turn == 1 - self; spins++)
                    if (spins > 100) Thread.Yield();
                guarded++;
                if (self == 0) wants0 = 0; else wants1 = 0;
            }
        };
        var thread = new Thread(() => run(0));
        thread.Start();
        run(1);
        thread.Join();
        Console.WriteLine("Peterson's lock: " + (guarded == 2 * Rounds ? "ok" : "WRONG"));
    }

    static void Excludes(string name, Action enter, Action leave)
    {
        long plain = 0, other = 0;
        bool ok = true;
        var threads = new Thread[3];
        for (int t = 0; t < threads.Length; t++)
        {
            threads[t] = new Thread(() =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    enter();
                    ok &= plain == other;
                    plain++;
                    other++;
                    leave();
                }
            });
            threads[t].Start();
        }
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(name + ": " + (ok && plain == 3 * Rounds && other == plain ? "ok" : "WRONG"));
    }

    static void Main()
    {
        StoreThenLoad("Exchange", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { Interlocked.Exchange(ref mine[i], 1); saw[i] = others[i]; } });
        StoreThenLoad("CompareExchange", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { Interlocked.CompareExchange(ref mine[i], 1, 0); saw[i] = others[i]; } });
        StoreThenLoad("Add", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { Interlocked.Add(ref mine[i], 1); saw[i] = others[i]; } });
        StoreThenLoad("MemoryBarrier", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; Thread.MemoryBarrier(); saw[i] = others[i]; } });
        int elsewhere = 0;
        StoreThenLoad("refused CompareExchange", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; Interlocked.CompareExchange(ref elsewhere, 1, -1); saw[i] = others[i]; } });
        StoreThenLoad("Increment elsewhere", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; Interlocked.Increment(ref elsewhere); saw[i] = others[i]; } });
        StoreThenLoad("volatile store and MemoryBarrier", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { Volatile.Write(ref mine[i], 1); Interlocked.MemoryBarrier(); saw[i] = Volatile.Read(ref others[i]); } });
        long number = 1;
        StoreThenLoad("Read elsewhere", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; Interlocked.Read(ref number); saw[i] = others[i]; } });
        StoreThenLoad("Read", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { words[mine == left ? i : Places + i] = 1; saw[i] = (int)Interlocked.Read(ref words[mine == left ? Places + i : i]); } });
        // The runtime's own functions, which delegates call.
        Exchanges<int> exchange = Interlocked.Exchange;
        Compares compare = Interlocked.CompareExchange;
        Exchanges<object> exchangeObject = Interlocked.Exchange;
        object box = null;
        StoreThenLoad("Exchange by a delegate", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { exchange(ref mine[i], 1); saw[i] = others[i]; } });
        StoreThenLoad("refused CompareExchange by a delegate", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; compare(ref elsewhere, 1, -1); saw[i] = others[i]; } });
        StoreThenLoad("Exchange of an object by a delegate", (mine, others, saw, i) => { for (int end = i + Batch; i < end; i++) { mine[i] = 1; exchangeObject(ref box, null); saw[i] = others[i]; } });
        Peterson();

        int gate = 0;
        Excludes("lock of CompareExchange", () => { var spin = new SpinWait(); while (Interlocked.CompareExchange(ref gate, 1, 0) != 0) spin.SpinOnce(); }, () => Volatile.Write(ref gate, 0));
        Excludes("lock of Exchange", () => { var spin = new SpinWait(); while (Interlocked.Exchange(ref gate, 1) != 0) spin.SpinOnce(); }, () => Interlocked.Exchange(ref gate, 0));
        object monitor = new object();
        Excludes("monitor", () => Monitor.Enter(monitor), () => Monitor.Exit(monitor));
        var spinLock = new SpinLock(false);
        Excludes("SpinLock", () => { bool taken = false; spinLock.Enter(ref taken); }, () => spinLock.Exit());
        var readerWriter = new ReaderWriterLockSlim();
        Excludes("ReaderWriterLockSlim", readerWriter.EnterWriteLock, readerWriter.ExitWriteLock);
        var semaphore = new SemaphoreSlim(1);
        Excludes("SemaphoreSlim", semaphore.Wait, () => semaphore.Release());
        int ticket = 0;
        int serving = 0;
        Excludes("ticket lock", () => { int mine = Interlocked.Increment(ref ticket) - 1; var spin = new SpinWait(); while (Volatile.Read(ref serving) != mine) spin.SpinOnce(); }, () => Volatile.Write(ref serving, serving + 1));
    }
}
