// A function of a library that stands in for one of Mono's own.
using System;
using System.Runtime.InteropServices;

class Program
{
    [DllImport("MonoPosixHelper")]
    static extern int answer();

    static void Main()
    {
        try
        {
            Console.WriteLine(answer());
        }
        catch (EntryPointNotFoundException)
        {
            Console.WriteLine("not loaded");
        }
    }
}
