// Threads that have visited a domain end after it was unloaded: the domain's end has freed the handles of their Thread objects, and the numbers of
// these handles belong to others since.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Visited : MarshalByRefObject
{
    public bool Touch() { return Thread.CurrentThread != null; }
}

class Program
{
    const int Visitors = 8;
    const int Handles = 1000;
    // A number recurs when its slot has been freed this often.
    const int Generations = 16;

    static int CountLost(GCHandle[] handles, object target)
    {
        int lost = 0;
        for (int i = 0; i < handles.Length; i++) {
            try {
                if (handles[i].Target != target)
                    lost++;
                handles[i].Free();
            } catch (InvalidOperationException) {
                lost++;
            }
        }
        return lost;
    }

    static void Main()
    {
        AppDomain domain = AppDomain.CreateDomain("visited");
        var visited = (Visited)domain.CreateInstanceAndUnwrap(typeof(Visited).Assembly.FullName, "Visited");
        var haveVisited = new CountdownEvent(Visitors);
        var mayEnd = new ManualResetEvent(false);
        var threads = new Thread[Visitors];
        for (int i = 0; i < Visitors; i++) {
            threads[i] = new Thread(() => {
                visited.Touch();
                haveVisited.Signal();
                mayEnd.WaitOne();
            });
            threads[i].Start();
        }
        haveVisited.Wait();
        AppDomain.Unload(domain);

        var target = new object();
        int lost = 0;
        for (int round = 0; round < Generations; round++) {
            var handles = new GCHandle[Handles];
            for (int i = 0; i < Handles; i++)
                handles[i] = GCHandle.Alloc(target);
            if (round == Generations - 1) {
                mayEnd.Set();
                foreach (Thread thread in threads)
                    thread.Join();
            }
            lost += CountLost(handles, target);
        }
        Console.WriteLine("lost: " + lost);

        // A thread that was in the domain visits another one.
        AppDomain next = AppDomain.CreateDomain("next");
        var inNext = (Visited)next.CreateInstanceAndUnwrap(typeof(Visited).Assembly.FullName, "Visited");
        Console.WriteLine("next: " + inNext.Touch());
        AppDomain.Unload(next);
        Console.WriteLine("main: " + (Thread.CurrentThread.ManagedThreadId > 0));
    }
}
