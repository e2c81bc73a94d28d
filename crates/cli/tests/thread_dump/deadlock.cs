// Threads that wait for each other in the way that the argument names; ends when a line comes in.
using System;
using System.Threading;

static class SlowType
{
    public static int Field;
    static SlowType() { Deadlock.Both.SignalAndWait(); lock (typeof(Deadlock)) Field = 1; }
}

static class Deadlock
{
    public static readonly Barrier Both = new Barrier(2);
    static readonly object first = new object();
    static readonly string second = "the second lock";
    static readonly Mutex mutex = new Mutex(false), other = new Mutex(false);

    static void Start(string name, ThreadStart work)
    {
        new Thread(work) { Name = name, IsBackground = true }.Start();
    }

    static void TakeBoth(object one, object two)
    {
        lock (one)
        {
            Both.SignalAndWait();
            lock (two) { }
        }
    }

    static void TakeMutexes(Mutex one, Mutex two)
    {
        one.WaitOne();
        Both.SignalAndWait();
        WaitHandle.WaitAll(new WaitHandle[] { two });
    }

    static void Main(string[] arguments)
    {
        switch (arguments[0])
        {
            case "locks":
                Start("left", () => TakeBoth(first, second));
                Start("right", () => TakeBoth(second, first));
                break;
            case "mutexes":
                Start("left", () => TakeMutexes(mutex, other));
                Start("right", () => TakeMutexes(other, mutex));
                break;
            case "constructor":
                Start("left", () => GC.KeepAlive(SlowType.Field));
                Start("right", () => { lock (typeof(Deadlock)) { Both.SignalAndWait(); GC.KeepAlive(SlowType.Field); } });
                break;
            case "join":
                Thread joined = new Thread(() => { Both.SignalAndWait(); lock (first) { } }) { Name = "left", IsBackground = true };
                Start("right", () => { lock (first) { joined.Start(); Both.SignalAndWait(); joined.Join(); } });
                break;
            case "timed":
                Start("left", () => { lock (first) { Both.SignalAndWait(); Monitor.TryEnter(second, 1000000); } });
                Start("right", () => TakeBoth(second, first));
                break;
            case "pulse":
                Start("left", () => { lock (first) { Monitor.Wait(first); } });
                Start("right", () => { lock (second) { Monitor.Wait(second, 1000000); } });
                break;
        }
        Console.WriteLine("ready");
        Console.ReadLine();
        Console.WriteLine("end");
        Environment.Exit(3);
    }
}
