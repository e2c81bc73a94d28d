using System;
using System.Threading;

// Events, semaphores, mutexes, waits for any and all.
class WaitHandles
{
    static void Main()
    {
        using var auto = new AutoResetEvent(false);
        using var manual = new ManualResetEvent(true);
        Console.WriteLine($"{auto.WaitOne(0)} {manual.WaitOne(0)} {manual.WaitOne()}");
        auto.Set();
        Console.WriteLine($"{auto.WaitOne(0)} {auto.WaitOne(0)}");
        Console.WriteLine($"{manual.Reset()} {manual.WaitOne(1)}");
        Console.WriteLine(WaitHandle.WaitAny(new WaitHandle[] { auto, manual }, 1) == WaitHandle.WaitTimeout);
        manual.Set();
        Console.WriteLine(WaitHandle.WaitAny(new WaitHandle[] { auto, manual }));
        auto.Set();
        Console.WriteLine(WaitHandle.WaitAll(new WaitHandle[] { auto, manual }));
        Console.WriteLine(WaitHandle.WaitAll(new WaitHandle[] { auto, manual }, 0));
        using var semaphore = new Semaphore(1, 2);
        Console.WriteLine(semaphore.Release());
        try { semaphore.Release(); } catch (SemaphoreFullException e) { Console.WriteLine(e.Message); }
        Console.WriteLine($"{semaphore.WaitOne(0)} {semaphore.WaitOne(0)} {semaphore.WaitOne(0)}");
        using var mutex = new Mutex(true);
        Console.WriteLine(mutex.WaitOne(0));
        mutex.ReleaseMutex();
        mutex.ReleaseMutex();
        try { mutex.ReleaseMutex(); } catch (ApplicationException e) { Console.WriteLine(e.Message); }
        var abandoning = new Thread(() => mutex.WaitOne());
        abandoning.Start();
        abandoning.Join();
        try { mutex.WaitOne(); } catch (AbandonedMutexException e) { Console.WriteLine(e.Message); }
        Console.WriteLine(WaitHandle.SignalAndWait(auto, manual));
        Console.WriteLine(auto.WaitOne(0));
        try { WaitHandle.WaitAny(Array.Empty<WaitHandle>()); } catch (ArgumentException e) { Console.WriteLine(e.GetType()); }
        auto.Dispose();
        try { auto.WaitOne(); } catch (ObjectDisposedException e) { Console.WriteLine(e.GetType()); }
        using var slim = new SemaphoreSlim(0);
        var releasing = new Thread(() => slim.Release(2));
        releasing.Start();
        slim.Wait();
        slim.Wait();
        Console.WriteLine(slim.CurrentCount);
        using var barrier = new Barrier(3, b => Console.WriteLine($"phase {b.CurrentPhaseNumber}"));
        var parts = new Thread[3];
        for (int i = 0; i < 3; i++) { parts[i] = new Thread(() => { barrier.SignalAndWait(); barrier.SignalAndWait(); }); parts[i].Start(); }
        foreach (var p in parts) p.Join();
        using var countdown = new CountdownEvent(2);
        new Thread(() => countdown.Signal(2)).Start();
        countdown.Wait();
        Console.WriteLine(countdown.IsSet);
        var rw = new ReaderWriterLockSlim();
        rw.EnterUpgradeableReadLock(); rw.EnterWriteLock();
        Console.WriteLine($"{rw.IsReadLockHeld} {rw.IsWriteLockHeld} {rw.IsUpgradeableReadLockHeld}");
    }
}
