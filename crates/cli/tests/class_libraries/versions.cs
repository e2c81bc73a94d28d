// Uses an internal call of mscorlib and one of System.dll.
using System;
using System.Diagnostics;

class Program
{
    static void Main()
    {
        Console.WriteLine(GC.GetTotalMemory(false) > 0);
        try { Console.WriteLine(FileVersionInfo.GetVersionInfo(typeof(Program).Assembly.Location).FileName != null); }
        catch (NotImplementedException e) { Console.WriteLine(e.Message); }
    }
}
