// Named mutexes, semaphores and events within the process, and mutexes whose owner ends without releasing them.
using System;
using System.Threading;

static class NamedObjects
{
    static void On(Action work)
    {
        var thread = new Thread(() => work());
        thread.Start();
        thread.Join();
    }

    static void Throws<E>(string what, Action work) where E : Exception
    {
        try
        {
            work();
            Console.WriteLine("{0}: nothing", what);
        }
        catch (E e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Mutexes()
    {
        bool created;
        var mutex = new Mutex(true, "saki-test-mutex", out created);
        Console.WriteLine("created {0}", created);
        var again = new Mutex(true, "saki-test-mutex", out created);
        Console.WriteLine("again {0}", created);
        Mutex found;
        Console.WriteLine("found {0}", Mutex.TryOpenExisting("saki-test-mutex", out found));
        On(() => Console.WriteLine("other thread {0}", found.WaitOne(0)));
        On(() => Throws<ApplicationException>("release", () => found.ReleaseMutex()));
        mutex.ReleaseMutex();
        On(() =>
        {
            Console.WriteLine("released {0}", again.WaitOne(0));
            again.ReleaseMutex();
        });
        mutex.WaitOne();
        mutex.WaitOne();
        mutex.ReleaseMutex();
        On(() => Console.WriteLine("still owned {0}", !again.WaitOne(0)));
        mutex.ReleaseMutex();
        mutex.Close();
        again.Close();
        found.Close();
        Console.WriteLine("after closing {0}", Mutex.TryOpenExisting("saki-test-mutex", out found));
        Throws<WaitHandleCannotBeOpenedException>("open", () => Mutex.OpenExisting("saki-test-none"));
    }

    static void Abandonment()
    {
        var mutex = new Mutex();
        On(() => mutex.WaitOne());
        Throws<AbandonedMutexException>("abandoned", () => mutex.WaitOne());
        mutex.ReleaseMutex();
        On(() => { Console.WriteLine("usable {0}", mutex.WaitOne(0)); mutex.ReleaseMutex(); });
        // A waiter that is there when the owner ends.
        var owned = new ManualResetEvent(false);
        var finish = new ManualResetEvent(false);
        var owner = new Thread(() => { mutex.WaitOne(); mutex.WaitOne(); owned.Set(); finish.WaitOne(); });
        owner.Start();
        owned.WaitOne();
        var waiter = new Thread(() =>
        {
            Throws<AbandonedMutexException>("waiting", () => mutex.WaitOne());
            mutex.ReleaseMutex();
            Throws<ApplicationException>("not owned", () => mutex.ReleaseMutex());
        });
        waiter.Start();
        Thread.Sleep(30);
        finish.Set();
        waiter.Join();
        On(() => mutex.WaitOne());
        try
        {
            WaitHandle.WaitAny(new WaitHandle[] { new ManualResetEvent(false), mutex });
        }
        catch (AbandonedMutexException e)
        {
            Console.WriteLine("any {0} {1}", e.MutexIndex, e.Mutex == mutex);
        }
        mutex.ReleaseMutex();
        On(() => mutex.WaitOne());
        Throws<AbandonedMutexException>("all", () => WaitHandle.WaitAll(new WaitHandle[] { new ManualResetEvent(true), mutex }));
        mutex.ReleaseMutex();
#if !NET
        // By an abort.
        owned.Reset();
        owner = new Thread(() => { mutex.WaitOne(); owned.Set(); Thread.Sleep(Timeout.Infinite); });
        owner.Start();
        owned.WaitOne();
        owner.Abort();
        owner.Join();
        Throws<AbandonedMutexException>("aborted", () => mutex.WaitOne());
#endif
    }

    static void SemaphoresAndEvents()
    {
#if !NET
        bool created;
        var semaphore = new Semaphore(1, 3, "saki-test-semaphore", out created);
        var same = new Semaphore(0, 9, "saki-test-semaphore", out created);
        Console.WriteLine("semaphore {0} {1} {2}", created, same.WaitOne(0), semaphore.WaitOne(0));
        Console.WriteLine("count {0} {1}", same.Release(2), semaphore.Release());
        Throws<SemaphoreFullException>("full", () => semaphore.Release());
        Console.WriteLine(Semaphore.OpenExisting("saki-test-semaphore").WaitOne(0));
        var manual = new EventWaitHandle(false, EventResetMode.ManualReset, "saki-test-event", out created);
        var other = new EventWaitHandle(true, EventResetMode.AutoReset, "saki-test-event", out created);
        Console.WriteLine("event {0} {1}", created, other.WaitOne(0));
        EventWaitHandle.OpenExisting("saki-test-event").Set();
        Console.WriteLine("{0} {1}", manual.WaitOne(0), other.WaitOne(0));
#endif
        var turn = new AutoResetEvent(false);
        var reply = new AutoResetEvent(false);
        var echo = new Thread(() => { turn.WaitOne(); reply.Set(); });
        echo.Start();
        Console.WriteLine("signal and wait {0}", WaitHandle.SignalAndWait(turn, reply));
        echo.Join();
    }

    static void Main()
    {
        Mutexes();
        Abandonment();
        SemaphoresAndEvents();
    }
}
