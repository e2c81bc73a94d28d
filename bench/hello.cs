// Start-up: the time from exec to exit of the smallest useful program.
using System;

static class Hello
{
    static void Main()
    {
        Console.WriteLine("Hello, world");
    }
}
