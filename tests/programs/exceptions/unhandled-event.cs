// AppDomain.UnhandledException is raised before the process ends.
// exit: 1
// stderr-contains: System.ApplicationException: last words
using System;

static class Program
{
    static void Main()
    {
        AppDomain.CurrentDomain.UnhandledException += (sender, e) =>
            Console.WriteLine("handler: {0}, terminating {1}", ((Exception)e.ExceptionObject).Message, e.IsTerminating);
        Console.WriteLine("before");
        throw new ApplicationException("last words");
    }
}
