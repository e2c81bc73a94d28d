// Ends in the way that the argument names.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Crash
{
    [DllImport("crash")]
    static extern int crash_outside();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void Inner(string how)
    {
        if (how == "native") crash_outside();
        if (how == "pointer") GC.KeepAlive(*(int*)0x123456789);
        if (how == "fail") Environment.FailFast("enough");
        if (how == "exception") Environment.FailFast("enough", new InvalidOperationException("why"));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Inner(int unused)
    {
        GC.KeepAlive(unused);
    }

    static void Main(string[] arguments)
    {
        Inner(1);
        Thread thread = new Thread(() => Inner(arguments[0]));
        thread.Start();
        thread.Join();
    }
}
