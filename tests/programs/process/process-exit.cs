// ProcessExit handlers run when Main returns; data and name of the default domain.
using System;

static class Program
{
    static void Main()
    {
        AppDomain.CurrentDomain.ProcessExit += (s, e) => Console.WriteLine("goodbye");
        AppDomain.CurrentDomain.SetData("key", 5);
        Console.WriteLine("{0} {1}", AppDomain.CurrentDomain.GetData("key"), AppDomain.CurrentDomain.IsDefaultAppDomain());
        Console.WriteLine(AppDomain.CurrentDomain.FriendlyName);
        Console.Write("no line end");
        Console.WriteLine();
    }
}
