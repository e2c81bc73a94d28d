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
        if (how == "null") CallNative((IntPtr)16);
        if (how == "abort") abort_outside();
        if (how == "foreign") crash_on_foreign_thread();
        if (how == "wait") Wait();
    }

    delegate int Function(int number);

    // Native code cannot throw: nothing is caught here.
    static void CallNative(IntPtr function)
    {
        try { ((Function)Marshal.GetDelegateForFunctionPointer(function, typeof(Function)))(1); }
        catch (NullReferenceException) { Console.Error.WriteLine("caught"); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Inner(int unused)
    {
        GC.KeepAlive(unused);
    }

    [DllImport("crash")]
    static extern int abort_outside();

    [DllImport("crash")]
    static extern int crash_on_foreign_thread();

    static void Wait()
    {
        lock (gate)
        {
            Console.WriteLine("ready");
            Thread.Sleep(Timeout.Infinite);
        }
    }

    static readonly object gate = new object();
    static int rounds;

    static void Spin()
    {
        while (true) rounds++;
    }

    static void Main(string[] arguments)
    {
        Inner(1);
        new Thread(Spin) { IsBackground = true, Name = "spinner" }.Start();
        Thread main = Thread.CurrentThread;
        Thread thread = new Thread(() =>
        {
            while (Volatile.Read(ref rounds) == 0 || (main.ThreadState & ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
            Inner(arguments[0]);
        });
        thread.Start();
        thread.Join();
    }
}
