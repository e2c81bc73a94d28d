// A crowd of threads that lock, allocate, throw, park, end and are replaced, while others abort and interrupt them and force collections; to be
// run while signals rain on the process. Arguments: seconds, threads.
//
// What each thread does leaves sums behind that are known: money moves between accounts in finally blocks, which no abort breaks off; an
// account names its owner while it is locked; graphs have checksums; exceptions carry numbers; what is entered is left.
using System;
using System.Diagnostics;
using System.Threading;

sealed class Account
{
    public long Balance;
    public int Owner;
}

sealed class Numbered : Exception
{
    public readonly int Number;
    public Numbered(int number) { Number = number; }
}

static class Crowd
{
    const int Accounts = 64, FirstBalance = 1000, RoundsOfALife = 200, Kinds = 8;

    static readonly Account[] accounts = new Account[Accounts];
    static readonly object bell = new object();
    static readonly ManualResetEvent gate = new ManualResetEvent(false);
    static volatile bool stop;
    static int failures, collections;
    static long entered, left, requested, aborted, interrupted, rounds;
    static Stopwatch watch;
    static int seconds;
    static Thread[] threads;
    static int[] turns;
    [ThreadStatic] static int own;

    static void Fail(string what)
    {
        if (Interlocked.Increment(ref failures) <= 10)
            Console.WriteLine(what);
        stop = true;
    }

    static uint Next(ref uint random)
    {
        random = random * 1664525u + 1013904223u;
        return random >> 8;
    }

    static void Move(int number, uint random)
    {
        int a = (int)(random % Accounts), b = (int)(random / Accounts % Accounts);
        if (a == b)
            return;
        Account first = accounts[Math.Min(a, b)], second = accounts[Math.Max(a, b)];
        // An interrupt may come while a lock is waited for: nothing has moved then.
        try { }
        finally
        {
            lock (first)
            {
                lock (second)
                {
                    if (first.Owner != 0 || second.Owner != 0)
                        Fail("two threads have one lock");
                    first.Owner = second.Owner = number + 1;
                    first.Balance -= 7;
                    second.Balance += 7;
                    if (first.Owner != number + 1 || second.Owner != number + 1)
                        Fail("another thread came into a lock");
                    first.Owner = second.Owner = 0;
                }
            }
        }
    }

    static int Throw(int depth, int number)
    {
        bool isIn = false;
        try
        {
            try { }
            finally
            {
                Interlocked.Increment(ref entered);
                isIn = true;
            }
            if (depth == 0)
                throw new Numbered(number);
            return Throw(depth - 1, number) + 1;
        }
        finally
        {
            if (isIn)
                Interlocked.Increment(ref left);
        }
    }

    static void Collect() { GC.Collect(Interlocked.Increment(ref collections) % 4 == 0 ? GC.MaxGeneration : 0); }

    // Aborts or interrupts one of the crowd.
    static void Disturb(ref uint random)
    {
        Thread victim = Volatile.Read(ref threads[Next(ref random) % threads.Length]);
        if (Interlocked.Increment(ref requested) % 64 == 0)
            Collect();
        if (Next(ref random) % 2 == 0) victim.Interrupt(); else victim.Abort("storm");
    }

    static void Round(int number, ref uint random)
    {
        own = number;
        uint choice = Next(ref random) % Kinds, some = Next(ref random);
        switch (choice)
        {
            case 0:
            case 1:
                Move(number, some);
                break;
            case 2:
                Node node = Node.Build(4, (int)(some & 0xffff));
                long sum = Node.Sum(node);
                if (some % 4 == 0)
                    Thread.Yield();
                if (Node.Sum(node) != sum)
                    Fail("checksum");
                break;
            case 3:
                try { Throw((int)(some % 8), number); }
                catch (Numbered e)
                {
                    if (e.Number != number)
                        Fail("another thread's exception");
                }
                break;
            case 4:
                lock (bell)
                    Monitor.Wait(bell, (int)(some % 50));
                break;
            case 5:
                lock (bell)
                {
                    if (some % 64 == 0) Monitor.PulseAll(bell); else Monitor.Pulse(bell);
                }
                break;
            case 6:
                Thread.Sleep((int)(some % 20));
                break;
            case 7:
                if (some % 64 > 0 && some % 64 < 8)
                    Disturb(ref random);
                if (some % 64 != 0)
                    break;
                int seen = -1;
                Thread child = new Thread(() => seen = number);
                child.Start();
                child.Join();
                if (seen != number)
                    Fail("a child's write is not seen");
                break;
        }
        if (own != number)
            Fail("another thread's static");
        turns[number]++;
        // The main thread may come to it late.
        if (watch.Elapsed.TotalSeconds >= seconds)
            stop = true;
        Interlocked.Increment(ref rounds);
    }

    static void Live(int number, uint random)
    {
        // What is thrown between two try blocks ends the thread, and it is replaced.
        for (int round = 0; !stop && round < RoundsOfALife; round++)
        {
            try
            {
                gate.WaitOne();
                Round(number, ref random);
            }
            catch (ThreadAbortException e)
            {
                if (!"storm".Equals(e.ExceptionState))
                    Fail("another's abort: " + e.ExceptionState);
                Thread.ResetAbort();
                Interlocked.Increment(ref aborted);
            }
            catch (ThreadInterruptedException)
            {
                Interlocked.Increment(ref interrupted);
            }
            catch (Exception e)
            {
                Fail(e.ToString());
            }
        }
    }

    static void Begin(int number, uint seed)
    {
        Thread thread = new Thread(() => Live(number, seed));
        thread.Start();
        Volatile.Write(ref threads[number], thread);
    }

    static int Main(string[] arguments)
    {
        seconds = int.Parse(arguments[0]);
        int count = int.Parse(arguments[1]);
        for (int i = 0; i < Accounts; i++)
            accounts[i] = new Account { Balance = FirstBalance };
        threads = new Thread[count];
        turns = new int[count];
        for (int i = 0; i < count; i++)
            Begin(i, (uint)i * 2654435761u);
        uint random = 12345;
        int replaced = 0;
        watch = Stopwatch.StartNew();
        gate.Set();
        Stopwatch sinceCollection = Stopwatch.StartNew(), asleep = new Stopwatch();
        long longestSleep = 0;
        while (!stop)
        {
            Disturb(ref random);
            for (int place = 0; place < count && !stop; place++)
            {
                if (!threads[place].IsAlive)
                {
                    Begin(place, Next(ref random));
                    replaced++;
                }
            }
            if (sinceCollection.ElapsedMilliseconds > 20)
            {
                Collect();
                sinceCollection.Restart();
            }
            asleep.Restart();
            Thread.Sleep(1);
            longestSleep = Math.Max(longestSleep, asleep.ElapsedMilliseconds);
        }
        Stopwatch end = Stopwatch.StartNew();
        foreach (Thread thread in threads)
        {
            while (!thread.Join(100) && end.Elapsed.TotalSeconds < 60) { }
            if (thread.IsAlive)
            {
                Fail("a thread does not end: " + thread.ThreadState);
                break;
            }
        }
        long total = 0;
        foreach (Account account in accounts)
            total += account.Balance;
        if (total != Accounts * FirstBalance)
            Fail("money is lost: " + total);
        if (entered != left)
            Fail("entered " + entered + ", left " + left);
        int silent = 0;
        foreach (int turn in turns)
            if (turn == 0) silent++;
        if (silent > count / 20 && rounds > 50L * count)
            Fail(silent + " threads had no turn");
        Console.Error.WriteLine("crowd: {0} threads, {1} rounds, {2} requests, {3} aborted, {4} interrupted, {5} replaced, {6} collections, {7} silent, {8} ms longest_sleep",
            count, rounds, requested, aborted, interrupted, replaced, collections, silent, longestSleep);
        Console.WriteLine(failures == 0 ? "ok" : "failed");
        return failures == 0 ? 0 : 1;
    }
}
