// Threads that nobody can wake, and threads that wait in the same ways but can be woken; ends when a line comes in.
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

static class Leaked
{
    static readonly object pulsed = new object();
    static readonly ManualResetEvent signalled = new ManualResetEvent(false);
    static readonly SemaphoreSlim free = new SemaphoreSlim(0);
    static readonly List<object> locks = new List<object>();
    static readonly TaskCompletionSource<int> pending = new TaskCompletionSource<int>();
    static readonly CountdownEvent ready = new CountdownEvent(Count);
    const int Count = 19;

    static void Start(string name, Action wait)
    {
        var thread = new Thread(() => { ready.Signal(); wait(); });
        thread.Name = name;
        thread.IsBackground = true;
        thread.Start();
    }

    static void WaitForPulse(object gate)
    {
        lock (gate)
            Monitor.Wait(gate);
    }

    static void HoldForEver(object gate, object never)
    {
        lock (gate)
            WaitForPulse(never);
    }

    static void Enter(object gate)
    {
        lock (gate) { }
    }

    // Runs on a thread that ends, so that no words of these objects stay on a stack.
    static void Begin()
    {
        // Nobody else has these objects.
        Start("leaked pulse", () => WaitForPulse(new object()));
        Start("leaked event", () => new ManualResetEvent(false).WaitOne());
        Start("leaked semaphore", () => new Semaphore(0, 1).WaitOne());
        Start("leaked any", () => WaitHandle.WaitAny(new WaitHandle[] { new AutoResetEvent(false), new AutoResetEvent(false) }));
        Start("leaked slim", () => new SemaphoreSlim(0).Wait());
        Start("leaked task", () => new TaskCompletionSource<int>().Task.Wait());
        // A lock that a leaked thread holds, and those that wait for it and for each other.
        var held = new object();
        locks.Add(held);
        Start("leaked holder", () => HoldForEver(held, new object()));
        Start("leaked at a lock", () => { Thread.Sleep(300); Enter(held); });
        var inner = new Thread(() => WaitForPulse(new object())) { IsBackground = true, Name = "leaked inner" };
        inner.Start();
        Start("leaked join", () => inner.Join());
        // A pair that only has each other.
        var (left, right) = (new object(), new object());
        Start("leaked left", () => { lock (left) { Thread.Sleep(300); Enter(right); } });
        Start("leaked right", () => { lock (right) { Thread.Sleep(300); Enter(left); } });

        Start("woken pulse", () => WaitForPulse(pulsed));
        Start("woken event", () => signalled.WaitOne());
        Start("woken slim", () => free.Wait());
        Start("woken task", () => pending.Task.Wait());
        Start("woken by time", () => new ManualResetEvent(false).WaitOne(100000));
        // What only a thread knows that can be woken.
        var known = new object();
        var chain = new ManualResetEvent(false);
        Start("woken knows", () => { WaitForPulse(pulsed); GC.KeepAlive(known); chain.Set(); });
        Start("woken by one that knows", () => WaitForPulse(known));
        Start("woken in a chain", () => chain.WaitOne());
    }

    static void Main(string[] arguments)
    {
        var thread = new Thread(Begin);
        thread.Start();
        thread.Join();
        ready.Wait();
        Thread.Sleep(1000);
        Console.WriteLine("ready");
        if (arguments.Length == 0)
            Console.ReadLine();
        Console.WriteLine("end");
    }
}
