// Threads that call into a domain all the time while it is unloaded get AppDomainUnloadedException, wherever the unloading meets
// them; an abort that comes too late for a call is not thrown outside of the domain.
using System;
using System.Reflection;
using System.Threading;

class Remote : MarshalByRefObject
{
    public int Add(int a, int b) { return a + b; }
    public string Text(string[] parts) { return string.Concat(parts); }
}

static class Program
{
    static int unloaded, aborted, others;

    static void Call(Remote remote, bool withTexts)
    {
        string[] parts = { "a", "b" };
        try
        {
            while (true)
            {
                if (withTexts)
                    remote.Text(parts);
                else
                    remote.Add(1, 2);
            }
        }
        catch (AppDomainUnloadedException)
        {
            Interlocked.Increment(ref unloaded);
        }
        catch (ThreadAbortException)
        {
            Thread.ResetAbort();
            Interlocked.Increment(ref aborted);
        }
        catch (Exception)
        {
            Interlocked.Increment(ref others);
        }
        if ((Thread.CurrentThread.ThreadState & ThreadState.AbortRequested) != 0)
            Interlocked.Increment(ref aborted);
    }

    static void Main()
    {
        const int Rounds = 15, Callers = 3;
        for (int round = 0; round < Rounds; round++)
        {
            AppDomain domain = AppDomain.CreateDomain("round " + round);
            Remote remote = (Remote) domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Remote");
            remote.Add(1, 2);
            remote.Text(new string[] { "" });
            Thread[] threads = new Thread[Callers];
            for (int i = 0; i < Callers; i++)
            {
                bool withTexts = i % 2 == 0;
                threads[i] = new Thread(() => Call(remote, withTexts));
                threads[i].Start();
            }
            Thread.Sleep(round);
            AppDomain.Unload(domain);
            foreach (Thread thread in threads)
                thread.Join();
        }
        Console.WriteLine("unloaded {0}, aborted {1}, others {2}", unloaded, aborted, others);
    }
}
