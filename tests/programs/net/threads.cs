using System;
using System.Threading;

// Threads: start, join, names, states, background, interrupts, monitors, thread statics.
class Threads
{
    [ThreadStatic] static int mine;
    static int shared;
    static readonly object gate = new object();

    static void Main()
    {
        Thread.CurrentThread.Name = "main";
        Console.WriteLine($"{Thread.CurrentThread.Name} {Thread.CurrentThread.IsAlive} {Thread.CurrentThread.IsBackground} {Thread.CurrentThread.ManagedThreadId == Environment.CurrentManagedThreadId}");
        mine = 7;
        var thread = new Thread(() => { mine = 1; Console.WriteLine($"in {Thread.CurrentThread.Name} {mine} {Thread.CurrentThread.IsThreadPoolThread}"); });
        Console.WriteLine($"{thread.ThreadState} {thread.IsAlive}");
        thread.Name = "worker";
        thread.Start();
        thread.Join();
        Console.WriteLine($"{thread.ThreadState} {thread.IsAlive} {mine}");
        try { thread.Start(); } catch (ThreadStateException e) { Console.WriteLine(e.Message); }
        try { Console.WriteLine(thread.IsBackground); } catch (ThreadStateException e) { Console.WriteLine(e.Message); }
        try { new Thread(() => { }).Join(); } catch (ThreadStateException e) { Console.WriteLine(e.Message); }
        var parameterised = new Thread(o => Console.WriteLine($"got {o}"), 256 << 10) { IsBackground = true, Priority = ThreadPriority.Highest };
        Console.WriteLine($"{parameterised.IsBackground} {parameterised.Priority} {parameterised.ThreadState}");
        parameterised.Start(42);
        parameterised.Join();

        var threads = new Thread[8];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => { for (int n = 0; n < 1000; n++) lock (gate) shared++; });
            threads[i].Start();
        }
        foreach (var t in threads) t.Join();
        Console.WriteLine(shared);

        var sleeper = new Thread(() =>
        {
            try { Thread.Sleep(Timeout.Infinite); }
            catch (ThreadInterruptedException e) { Console.WriteLine(e.Message); }
        });
        sleeper.Start();
        while (sleeper.ThreadState != ThreadState.WaitSleepJoin) Thread.Yield();
        Console.WriteLine(sleeper.Join(0));
        sleeper.Interrupt();
        sleeper.Join();

        bool ready = false;
        var waiter = new Thread(() => { lock (gate) { while (!ready) Monitor.Wait(gate); Console.WriteLine("pulsed"); } });
        waiter.Start();
        lock (gate) { ready = true; Monitor.PulseAll(gate); }
        waiter.Join();
        lock (gate) Console.WriteLine($"{Monitor.IsEntered(gate)} {Monitor.Wait(gate, 1)}");
        Console.WriteLine(Monitor.IsEntered(gate));
        try { Monitor.Exit(gate); } catch (SynchronizationLockException e) { Console.WriteLine(e.Message); }
        try { Monitor.Pulse(gate); } catch (SynchronizationLockException e) { Console.WriteLine(e.GetType()); }
        try { Monitor.Enter(null!); } catch (ArgumentNullException e) { Console.WriteLine(e.ParamName); }
        Console.WriteLine($"{Monitor.TryEnter(gate, 10)} {Monitor.TryEnter(gate)}");
        bool other = true;
        var trying = new Thread(() => other = Monitor.TryEnter(gate, 5));
        trying.Start();
        trying.Join();
        Console.WriteLine(other);
        Monitor.Exit(gate);
        Monitor.Exit(gate);
        try { new Thread(() => { }) { Priority = (ThreadPriority)9 }.ToString(); } catch (ArgumentException e) { Console.WriteLine(e.GetType()); }
    }
}
