// ProcessExit is raised once, in every domain; who asks for the end in a handler ends the process; what a handler throws is not told.
// exit: 7
using System;
using System.Threading;

static class Program
{
    static void Add()
    {
        string name = AppDomain.CurrentDomain.IsDefaultAppDomain() ? "default" : AppDomain.CurrentDomain.FriendlyName;
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine(name + ": exit, shutdown " + Environment.HasShutdownStarted);
        if (name == "throws")
            AppDomain.CurrentDomain.ProcessExit += (s, e) => { throw new Exception("nobody hears of this"); };
        if (name == "exits")
            AppDomain.CurrentDomain.ProcessExit += (s, e) =>
            {
                // Another thread that asks for the end waits for this one.
                var other = new Thread(() => { Environment.Exit(6); Console.WriteLine("never"); });
                other.Start();
                other.Join(200);
                Environment.Exit(7);
                Console.WriteLine("never");
            };
    }

    static void Main()
    {
        Add();
        AppDomain.CreateDomain("throws").DoCallBack(Add);
        AppDomain.CreateDomain("exits").DoCallBack(Add);
        Environment.ExitCode = 5;
    }
}
