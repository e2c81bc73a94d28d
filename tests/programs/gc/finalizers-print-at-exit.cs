// Finalizers that run at exit may print, whatever they are run after: the console's streams stay open.
using System;

class Printer
{
    static Printer first;
    static Printer last;
    readonly string name;

    Printer(string name)
    {
        this.name = name;
    }

    ~Printer()
    {
        Console.WriteLine("finalizer");
        Console.Error.WriteLine(name);
    }

    static void Main()
    {
        first = new Printer("first");
        Console.WriteLine("main");
        last = new Printer("last");
        new Printer("unreachable");
    }
}
