// exit: 255
// stderr-contains: System.InvalidOperationException: from a finalizer
using System;

// An exception that leaves a finalizer ends the process with the exit code of the threads that the program did not start.
class Unhandled {
    class Broken {
        ~Broken() { throw new InvalidOperationException("from a finalizer"); }
    }

    static void Fill() {
        for (int i = 0; i < 1000; i++)
            new Broken();
    }

    static int Main() {
        AppDomain.CurrentDomain.UnhandledException += (sender, e) =>
            Console.WriteLine("{0} {1}", ((Exception) e.ExceptionObject).Message, e.IsTerminating);
        Fill();
        GC.Collect();
        GC.WaitForPendingFinalizers();
        System.Threading.Thread.Sleep(10000);
        return 1;
    }
}
