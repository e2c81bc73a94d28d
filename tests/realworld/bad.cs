// Compiled to see the compiler's messages.
using System;
class Bad : IDisposable
{
    int unused;
    static int Main()
    {
        string s = 5;
        undeclared = 7;
        var list = new System.Collections.Generic.List<int>();
        list.Add("x");
        int i;
        Console.WriteLine(i);
        foreach (var x in 3) { }
        return;
    }
}
