// The smallest program.
using System;

static class Hello
{
    static void Main()
    {
        Console.WriteLine("Hello from {0}, {1}-bit, CLR {2}", Environment.OSVersion.Platform, IntPtr.Size * 8, Environment.Version);
    }
}
