// Waits in Main until its input ends.
using System;

static class Waiting
{
    static void Main()
    {
        Console.WriteLine("ready");
        Console.In.ReadToEnd();
        Console.WriteLine("ok");
    }
}
