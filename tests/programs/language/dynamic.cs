// `dynamic`: operators, members, calls and conversions bound at run time.
// mcs: -r:Microsoft.CSharp.dll
using System;

static class Program
{
    static void Main()
    {
        dynamic dyn = 5;
        Console.WriteLine(dyn + 2);
        dyn = "text";
        Console.WriteLine(dyn.Length);
    }
}
