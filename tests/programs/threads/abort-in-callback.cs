// An abort that leaves a callback waits for the native code that made the call, which cannot be unwound; until that returns no further callback runs.
// net: skip it lets an exception leave a native frame, which .NET does not define
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
    delegate int Comparison(IntPtr left, IntPtr right);

    [DllImport("libc")]
    static extern void qsort(int[] numbers, UIntPtr count, UIntPtr size, Comparison compare);

    static int calls;

    static int Compare(IntPtr left, IntPtr right)
    {
        if (++calls == 10)
            Thread.CurrentThread.Abort("state");
        return Marshal.ReadInt32(left).CompareTo(Marshal.ReadInt32(right));
    }

    static void Sort(int count)
    {
        var numbers = new int[count];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = i * 7919 % 1009;
        qsort(numbers, (UIntPtr)numbers.Length, (UIntPtr)4, Compare);
        Console.WriteLine("sorted after {0} calls", calls);
    }

    static void Run()
    {
        try
        {
            try
            {
                Sort(1000);
            }
            finally
            {
                Console.WriteLine("finally after {0} calls", calls);
            }
        }
        catch (ThreadAbortException e)
        {
            Console.WriteLine("aborted: {0}", e.ExceptionState);
            Thread.ResetAbort();
        }
        // The abort is over: callbacks run again.
        calls = 100;
        Sort(2);
    }

    static void Main()
    {
        for (int i = 0; i < 3; i++)
        {
            calls = 0;
            var thread = new Thread(Run);
            thread.Start();
            thread.Join();
        }
    }
}
