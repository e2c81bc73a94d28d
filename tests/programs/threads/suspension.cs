// Thread.Suspend and Resume: of a running thread, a sleeping one, the own one; states and refusals.
using System;
using System.Threading;

#pragma warning disable 618
class Suspension
{
    static volatile int counter;
    static volatile bool stop;

    static void Check(string name, bool ok) { Console.WriteLine(name + ": " + (ok ? "ok" : "WRONG")); }

    static bool Refused(Action action)
    {
        try { action(); } catch (ThreadStateException) { return true; }
        return false;
    }

    static void Main()
    {
        var runner = new Thread(() => { while (!stop) counter++; });
        Check("unstarted", Refused(runner.Suspend) && Refused(runner.Resume));
        runner.Start();
        while (counter == 0) Thread.Sleep(1);
        Check("not suspended", Refused(runner.Resume));
        for (int i = 0; i < 20; i++)
        {
            runner.Suspend();
            int before = counter;
            if (i == 0)
            {
                Check("state", (runner.ThreadState & (ThreadState.Suspended | ThreadState.SuspendRequested)) != 0);
                GC.Collect();
                Thread.Sleep(20);
                Check("stands still", counter == before);
            }
            runner.Resume();
            while (counter == before) Thread.Sleep(0);
        }
        Check("goes on", runner.ThreadState == ThreadState.Running);
        stop = true;
        runner.Join();
        Check("stopped", Refused(runner.Suspend));

        bool slept = false, isLate = true, stillSlept = false;
        // On a busy machine the sleep may be over before the thread is suspended: a longer one is taken then.
        for (int length = 20; isLate && length < 20000; length *= 2)
        {
            slept = false;
            var sleeper = new Thread(() => { Thread.Sleep(length); slept = true; });
            sleeper.Start();
            Thread.Sleep(1);
            isLate = Refused(sleeper.Suspend);
            if (!isLate)
            {
                isLate = Volatile.Read(ref slept);
                Thread.Sleep(3 * length);
                stillSlept = !Volatile.Read(ref slept);
                sleeper.Resume();
            }
            sleeper.Join();
        }
        Check("suspended in sleep", !isLate && stillSlept);
        Check("slept", slept);

        bool resumed = false;
        var self = new Thread(() => { Thread.CurrentThread.Suspend(); resumed = true; });
        self.Start();
        while ((self.ThreadState & ThreadState.Suspended) == 0) Thread.Sleep(1);
        Check("suspends itself", !resumed);
        self.Resume();
        self.Join();
        Check("resumed", resumed);
    }
}
