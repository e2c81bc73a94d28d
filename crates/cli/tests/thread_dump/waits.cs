// Threads that wait in different ways, one of them in a finalizer; ends when a line comes in.
using System;
using System.Threading;

class Hangs
{
    ~Hangs()
    {
        Waits.Ready.Signal();
        Waits.Over.WaitOne();
    }
}

static class Waits
{
    public static readonly CountdownEvent Ready = new CountdownEvent(4);
    public static readonly ManualResetEvent Over = new ManualResetEvent(false);
    static readonly object gate = new object();
    static volatile bool stop;

    static void WaitForGate(int depth)
    {
        if (depth > 0)
            WaitForGate(depth - 1);
        else
        {
            Ready.Signal();
            lock (gate) { }
        }
    }

    static void Spin()
    {
        Ready.Signal();
        while (!stop) { }
    }

    static void Start(string name, ThreadStart work)
    {
        Thread thread = new Thread(work);
        thread.Name = name;
        thread.IsBackground = true;
        thread.Start();
    }

    static void Drop()
    {
        for (int i = 0; i < 3; i++)
            GC.KeepAlive(new byte[100]);
        new Hangs();
    }

    static void Main()
    {
        lock (gate)
        {
            Start("at the gate", () => WaitForGate(3));
            Start("busy", Spin);
            Start("asleep", () => { Ready.Signal(); Thread.Sleep(Timeout.Infinite); });
            Start("drops", Drop);
            while (!Ready.Wait(10))
                GC.Collect();
            Console.WriteLine("ready");
            Console.ReadLine();
            stop = true;
            Over.Set();
        }
        Console.WriteLine("end");
        Environment.Exit(3);
    }
}
