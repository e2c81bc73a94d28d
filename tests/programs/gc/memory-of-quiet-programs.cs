// A program that has been busy and is quiet now gives its memory back when it asks for collections.
// stress: skip a million objects, each of which may start a collection
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

class MemoryOfQuietPrograms
{
    const long MiB = 1 << 20;

    static long Resident()
    {
        return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]) * 4096;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Busy()
    {
        var kept = new List<object>();
        for (int i = 0; i < 1500; i++)
        {
            kept.Add(new byte[20000 + i]);
            for (int j = 0; j < 1000; j++)
                kept.Add(new object[5]);
        }
        return Resident() + (kept.Count == 0 ? 1 : 0);
    }

    // Threads whose stacks nothing else has used, so that no stale word keeps the list.
    static long InThread(Func<long> function)
    {
        long result = 0;
        var thread = new Thread(() => result = function());
        thread.Start();
        thread.Join();
        return result;
    }

    static void Main()
    {
        long before = Resident();
        long most = InThread(Busy);
        Console.WriteLine("was busy: " + (most - before > 90 * MiB));
        long after = most;
        for (int i = 0; i < 40 && after - before > 40 * MiB; i++)
        {
            Thread.Sleep(100);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            after = Resident();
        }
        Console.WriteLine("is quiet: " + (after - before <= 40 * MiB));
    }
}
