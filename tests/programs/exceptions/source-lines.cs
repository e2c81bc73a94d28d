// mcs: -debug
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Thrower(int n)
    {
        int m = n + 1;

        if (m > 3)
            throw new InvalidOperationException("line 15");
        Console.WriteLine(m);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Caller()
    {
        Thrower(1);
        Thrower(7); // line 23
    }

#line 1000 "other-name.txt"
    [MethodImpl(MethodImplOptions.NoInlining)]
    static StackTrace Here()
    {
        return new StackTrace(true); // line 1003
    }
#line default

    static void Show(StackTrace trace)
    {
        foreach (StackFrame frame in trace.GetFrames())
            Console.WriteLine("{0} {1}:{2}", frame.GetMethod().Name, Path.GetFileName(frame.GetFileName()),
                frame.GetFileLineNumber());
    }

    static void Main()
    {
        try
        {
            Caller(); // line 45
        }
        catch (InvalidOperationException e)
        {
            Show(new StackTrace(e, true));
            string first = e.StackTrace.Split('\n')[0];
            Console.WriteLine(first.EndsWith("source-lines.cs:15 ") || first.EndsWith("source-lines.cs:15"));
            Console.WriteLine(new StackTrace(e, false).GetFrame(0).GetFileName() ?? "no position asked for");
        }
        Show(Here()); // line 54
        Console.WriteLine(new StackFrame(0, true).GetFileLineNumber()); // line 55
        Console.WriteLine(new StackFrame(0).GetFileLineNumber());
    }
}
