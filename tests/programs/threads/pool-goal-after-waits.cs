// Work items that have waited count as active again: after many of them the pool still runs only some items at a time.
using System;
using System.Threading;

class PoolGoalAfterWaits
{
    static int active, most;

    static void Main()
    {
        const int Sleepers = 200, Workers = 64;
        using (var slept = new CountdownEvent(Sleepers))
        {
            for (int i = 0; i < Sleepers; i++)
                ThreadPool.QueueUserWorkItem(_ => { Thread.Sleep(1); slept.Signal(); });
            slept.Wait();
        }
        using (var done = new CountdownEvent(Workers))
        {
            for (int i = 0; i < Workers; i++)
                ThreadPool.QueueUserWorkItem(_ => { Work(); done.Signal(); });
            done.Wait();
        }
        int limit = 8 * Environment.ProcessorCount;
        Console.WriteLine(most <= limit ? "few at a time" : "too many at a time: " + most);
    }

    static void Work()
    {
        int now = Interlocked.Increment(ref active);
        int before;
        while (now > (before = Volatile.Read(ref most)) && Interlocked.CompareExchange(ref most, now, before) != before) { }
        int end = Environment.TickCount + 5;
        while (Environment.TickCount < end) { Thread.Yield(); }
        Interlocked.Decrement(ref active);
    }
}
