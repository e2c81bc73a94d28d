// The counters of the thread pool count work items when they are queued, and the threads there are.
using System;
using System.Diagnostics;
using System.Threading;

static class Program {
    static void Main ()
    {
        using (var items = new PerformanceCounter ("Mono Threadpool", "Work Items Added"))
        using (var threads = new PerformanceCounter ("Mono Threadpool", "# of Threads"))
        using (var done = new CountdownEvent (50)) {
            float before = items.NextValue ();
            for (int i = 0; i < 50; i++)
                ThreadPool.QueueUserWorkItem (_ => done.Signal ());
            Console.WriteLine (items.NextValue () - before >= 50);
            done.Wait ();
            Console.WriteLine (threads.NextValue () > 0);
            Console.WriteLine ("{0} {1}", items.CounterType, threads.CounterType);
        }
    }
}
