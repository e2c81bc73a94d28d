// Threads, Monitor with Wait and Pulse, System.Threading.Lock, semaphores, barriers, events, reader-writer locks and ThreadLocal.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

static class Test
{
    static readonly Lock Gate = new();
    static readonly object Monitored = new();
    static int counter, interlocked;
    [ThreadStatic] static int own;

    static void Run(int count, Action<int> body)
    {
        var threads = Enumerable.Range(0, count).Select(i => new Thread(() => body(i)) { Name = "t" + i }).ToArray();
        foreach (var t in threads) t.Start();
        foreach (var t in threads) t.Join();
    }

    static void Main()
    {
        Run(4, _ => { for (int i = 0; i < 5000; i++) { lock (Gate) counter++; Interlocked.Increment(ref interlocked); own++; } });
        Console.WriteLine($"{counter} {interlocked} {own}");
        using (Gate.EnterScope()) Console.WriteLine(Gate.IsHeldByCurrentThread);

        var queue = new Queue<int>();
        int sum = 0;
        var consumer = new Thread(() =>
        {
            for (int i = 0; i < 100; i++)
                lock (Monitored)
                {
                    while (queue.Count == 0) Monitor.Wait(Monitored);
                    sum += queue.Dequeue();
                }
        });
        consumer.Start();
        for (int i = 0; i < 100; i++) lock (Monitored) { queue.Enqueue(i); Monitor.Pulse(Monitored); }
        consumer.Join();
        Console.WriteLine(sum);

        using var semaphore = new SemaphoreSlim(0);
        using var ready = new ManualResetEventSlim();
        using var turn = new AutoResetEvent(false);
        Run(3, i => { if (i == 0) { turn.WaitOne(); ready.Set(); } else if (i == 1) turn.Set(); else { ready.Wait(); semaphore.Release(3); } });
        Console.WriteLine(semaphore.CurrentCount + " " + semaphore.Wait(0) + " " + turn.WaitOne(0));

        using var barrier = new Barrier(3, b => Console.WriteLine("phase " + b.CurrentPhaseNumber));
        Run(3, _ => { barrier.SignalAndWait(); barrier.SignalAndWait(); });

        using var local = new ThreadLocal<int>(() => 10, true);
        Run(3, i => local.Value += i);
        Console.WriteLine(string.Join(" ", local.Values.Order()));

        using var many = new ReaderWriterLockSlim();
        many.EnterReadLock();
        Console.WriteLine(many.CurrentReadCount + " " + many.IsWriteLockHeld);
        many.ExitReadLock();
        using var countdown = new CountdownEvent(2);
        ThreadPool.QueueUserWorkItem(_ => countdown.Signal());
        ThreadPool.UnsafeQueueUserWorkItem(c => c.Signal(), countdown, false);
        countdown.Wait();
        Console.WriteLine(countdown.IsSet);

        var sleeper = new Thread(() =>
        {
            try { Thread.Sleep(Timeout.Infinite); }
            catch (ThreadInterruptedException e) { Console.WriteLine(e.GetType().Name + " in " + Thread.CurrentThread.Name); }
        }) { Name = "sleeper", IsBackground = true };
        sleeper.Start();
        sleeper.Interrupt();
        sleeper.Join();
        Console.WriteLine(sleeper.IsAlive + " " + sleeper.ThreadState.HasFlag(ThreadState.Stopped));
        try { Monitor.Exit(new object()); } catch (SynchronizationLockException e) { Console.WriteLine(e.GetType().Name); }
        using var mutex = new Mutex(true);
        Console.WriteLine(mutex.WaitOne(0));
        try { Thread.CurrentThread.Abort(); } catch (PlatformNotSupportedException e) { Console.WriteLine(e.GetType().Name); }
    }
}
