// Threads: start arguments, names, states, join with timeout, interrupt, background threads, events, interlocked.
using System;
using System.Threading;

static class Program
{
    static int counter;
    static long wide;
    static object slot;

    static void Main()
    {
        Thread.CurrentThread.Name = "main";
        string seen = null;
        Thread t = new Thread(arg => seen = arg + "/" + Thread.CurrentThread.Name + "/" + Thread.CurrentThread.IsBackground);
        t.Name = "worker";
        Console.WriteLine("{0} {1}", t.ThreadState, t.IsAlive);
        t.Start("argument");
        t.Join();
        Console.WriteLine("{0} {1} {2} {3}", seen, t.ThreadState, t.IsAlive, Thread.CurrentThread.Name);
        Console.WriteLine(t.ManagedThreadId != Thread.CurrentThread.ManagedThreadId);

        Thread sleeper = new Thread(() =>
        {
            try
            {
                Thread.Sleep(Timeout.Infinite);
            }
            catch (ThreadInterruptedException)
            {
                seen = "interrupted";
            }
        });
        sleeper.Start();
        Console.WriteLine(sleeper.Join(20));
        sleeper.Interrupt();
        sleeper.Join();
        Console.WriteLine(seen);

        Thread[] threads = new Thread[8];
        CountdownEvent countdown = new CountdownEvent(threads.Length);
        ManualResetEventSlim start = new ManualResetEventSlim();
        for (int i = 0; i < threads.Length; i++)
        {
            int n = i;
            threads[i] = new Thread(() =>
            {
                start.Wait();
                for (int k = 0; k < 10000; k++)
                {
                    Interlocked.Increment(ref counter);
                    Interlocked.Add(ref wide, n);
                }
                countdown.Signal();
            }, 256 * 1024);
            threads[i].IsBackground = true;
            threads[i].Start();
        }
        start.Set();
        countdown.Wait();
        Console.WriteLine("{0} {1}", counter, wide);
        Console.WriteLine("{0} {1}", Interlocked.CompareExchange(ref counter, 5, 80000), counter);
        Console.WriteLine("{0} {1}", Interlocked.Exchange(ref slot, "new") == null, Interlocked.CompareExchange(ref slot, "x", "other"));
        Console.WriteLine("{0} {1}", Interlocked.Decrement(ref wide), Interlocked.Read(ref wide));
        double d = 1.5;
        Console.WriteLine("{0} {1}", Interlocked.Exchange(ref d, 2.5), d);

        AutoResetEvent auto = new AutoResetEvent(false);
        Console.WriteLine(auto.WaitOne(10));
        auto.Set();
        Console.WriteLine("{0} {1}", auto.WaitOne(0), auto.WaitOne(0));
        ManualResetEvent a = new ManualResetEvent(false), b = new ManualResetEvent(true);
        Console.WriteLine("{0} {1} {2}", WaitHandle.WaitAny(new WaitHandle[] { a, b }), WaitHandle.WaitAll(new WaitHandle[] { a, b }, 10), WaitHandle.WaitAny(new WaitHandle[] { a }, 10) == WaitHandle.WaitTimeout);
        Semaphore semaphore = new Semaphore(2, 2);
        Console.WriteLine("{0} {1} {2} {3}", semaphore.WaitOne(0), semaphore.WaitOne(0), semaphore.WaitOne(0), semaphore.Release());
        Mutex mutex = new Mutex(true);
        bool other = true;
        Thread trier = new Thread(() => other = mutex.WaitOne(10));
        trier.Start();
        trier.Join();
        mutex.ReleaseMutex();
        Console.WriteLine(other);
        ReaderWriterLockSlim rw = new ReaderWriterLockSlim();
        rw.EnterReadLock();
        Console.Write(rw.IsReadLockHeld);
        rw.ExitReadLock();
        rw.EnterWriteLock();
        Console.WriteLine(" {0} {1}", rw.IsReadLockHeld, rw.IsWriteLockHeld);
        rw.ExitWriteLock();
        Volatile.Write(ref counter, 9);
        Thread.MemoryBarrier();
        Console.WriteLine(Volatile.Read(ref counter));
        Barrier barrier = new Barrier(3, _ => counter++);
        Thread[] phases = new Thread[3];
        for (int i = 0; i < 3; i++)
        {
            phases[i] = new Thread(() => { for (int k = 0; k < 5; k++) barrier.SignalAndWait(); });
            phases[i].Start();
        }
        foreach (Thread p in phases)
            p.Join();
        Console.WriteLine(counter);
        new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true }.Start();
        try
        {
            t.Start();
        }
        catch (ThreadStateException)
        {
            Console.WriteLine("started twice");
        }
        Thread foreground = new Thread(() => { Thread.Sleep(50); Console.WriteLine("foreground threads keep the process alive"); });
        foreground.Start();
    }
}
