// ReaderWriterLock excludes writers from each other and from readers in every thread mode: it tells threads apart by a number of their own.
using System;
using System.Collections.Generic;
using System.Threading;

static class Program
{
    static void Main()
    {
        var access = new ReaderWriterLock();
        int inside = 0, errors = 0, total = 0;
        var threads = new List<Thread>();
        for (int i = 0; i < 8; i++)
        {
            bool reads = i % 4 == 3;
            var thread = new Thread(() =>
            {
                for (int round = 0; round < 50; round++)
                {
                    if (reads)
                    {
                        access.AcquireReaderLock(-1);
                        if (Volatile.Read(ref inside) != 0) Interlocked.Increment(ref errors);
                        Thread.Yield();
                        if (Volatile.Read(ref inside) != 0) Interlocked.Increment(ref errors);
                        access.ReleaseReaderLock();
                        continue;
                    }
                    access.AcquireWriterLock(-1);
                    if (Interlocked.Increment(ref inside) != 1) Interlocked.Increment(ref errors);
                    Thread.Yield();
                    total++;
                    Interlocked.Decrement(ref inside);
                    access.ReleaseWriterLock();
                }
            });
            threads.Add(thread);
        }
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("{0} writes, {1} errors", total, errors);

        // A lock that one thread holds is no other thread's.
        access.AcquireWriterLock(-1);
        bool holds = true, acquired = true;
        int id = 0;
        var other = new Thread(() =>
        {
            holds = access.IsWriterLockHeld;
            try { access.AcquireWriterLock(0); } catch (ApplicationException) { acquired = false; }
#pragma warning disable 618
            id = AppDomain.GetCurrentThreadId();
        });
        other.Start();
        other.Join();
        Console.WriteLine("{0} {1} {2} {3}", access.IsWriterLockHeld, holds, acquired, id == AppDomain.GetCurrentThreadId());
        access.ReleaseWriterLock();

        var numbers = new HashSet<int>();
        using (var all = new Barrier(32))
        {
            threads.Clear();
            for (int i = 0; i < 32; i++)
            {
                var thread = new Thread(() =>
                {
                    lock (numbers) numbers.Add(AppDomain.GetCurrentThreadId());
                    all.SignalAndWait();
                });
                thread.Start();
                threads.Add(thread);
            }
            threads.ForEach(thread => thread.Join());
        }
        numbers.Add(AppDomain.GetCurrentThreadId());
        Console.WriteLine(numbers.Count);
    }
}
