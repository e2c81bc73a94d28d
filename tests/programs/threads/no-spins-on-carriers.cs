// Where threads take turns on carriers the class library yields in place of spinning, whatever the number of carriers.
// net: skip Saki tells .NET's class library how long to spin instead
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;

static class Program
{
    // Whether threads have no threads of the system of their own.
    static bool TakeTurns()
    {
        // There may be a carrier for each processor.
        int count = 20 + 4 * Environment.ProcessorCount;
        var threads = new List<Thread>();
        using (var end = new ManualResetEvent(false))
        using (var begun = new CountdownEvent(count))
        {
            int before = Directory.GetDirectories("/proc/self/task").Length;
            for (int i = 0; i < count; i++)
            {
                threads.Add(new Thread(() => { begun.Signal(); end.WaitOne(); }));
                threads[i].Start();
            }
            begun.Wait();
            int now = Directory.GetDirectories("/proc/self/task").Length;
            end.Set();
            threads.ForEach(thread => thread.Join());
            return now - before < count / 2;
        }
    }

    static void Main()
    {
        var wait = new SpinWait();
        Console.WriteLine(wait.NextSpinWillYield == (TakeTurns() || Environment.ProcessorCount == 1));
        // Each of these gives the other thread its turn.
        bool isDone = false;
        var other = new Thread(() => { isDone = true; });
        other.Start();
        while (!Volatile.Read(ref isDone))
            wait.SpinOnce();
        other.Join();
        Console.WriteLine(new SemaphoreSlim(1).Wait(1000));
    }
}
