// An exception that nobody catches in another domain is told to the handlers of the default domain, too.
// exit: 1
// stderr-contains: FATAL UNHANDLED EXCEPTION: System.InvalidOperationException: lost
using System;
using System.Threading;

static class Program
{
    static void Add()
    {
        string name = AppDomain.CurrentDomain.IsDefaultAppDomain() ? "default" : AppDomain.CurrentDomain.FriendlyName;
        AppDomain.CurrentDomain.UnhandledException += (s, e) =>
            Console.WriteLine(name + ": " + ((Exception)e.ExceptionObject).Message + " " + e.IsTerminating);
    }

    static void Fail()
    {
        var thread = new Thread(() => { throw new InvalidOperationException("lost"); });
        thread.Start();
        thread.Join();
    }

    static void Main()
    {
        Add();
        var other = AppDomain.CreateDomain("other");
        other.DoCallBack(Add);
        other.DoCallBack(Fail);
        Console.WriteLine("never");
    }
}
