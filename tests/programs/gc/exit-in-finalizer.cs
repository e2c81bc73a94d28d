// A finalizer that ends the process does not wait for itself.
using System;
using System.Threading;

class Ending
{
    ~Ending() { Console.WriteLine("finalizer"); Environment.Exit(0); }
}

class Program
{
    static void Make() { for (int i = 0; i < 10; i++) new Ending(); }

    static int Main()
    {
        Make();
        for (int i = 0; i < 100; i++) { GC.Collect(); Thread.Sleep(20); }
        return 1;
    }
}
