// As many threads as the argument says that wait at the same gate, and some that sleep; ends when a line comes in.
using System;
using System.Threading;

static class Parked
{
    static readonly ManualResetEvent gate = new ManualResetEvent(false);
    static CountdownEvent ready;

    static void WaitAtTheGate()
    {
        ready.Signal();
        gate.WaitOne();
    }

    static void SleepLong()
    {
        ready.Signal();
        Thread.Sleep(Timeout.Infinite);
    }

    static int Main(string[] arguments)
    {
        int count = int.Parse(arguments[0]);
        ready = new CountdownEvent(count + 3);
        for (int i = 0; i < count; i++) new Thread(WaitAtTheGate, 64 << 10).Start();
        for (int i = 0; i < 3; i++) new Thread(SleepLong, 64 << 10) { IsBackground = true, Name = "sleeper" }.Start();
        ready.Wait();
        Console.WriteLine("ready");
        Console.ReadLine();
        gate.Set();
        Console.WriteLine("end");
        return 0;
    }
}
