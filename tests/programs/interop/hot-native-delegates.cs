// Delegates for native functions in a loop that gets hot: the method that they show is their own Invoke.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=3
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
    [UnmanagedFunctionPointer (CallingConvention.Cdecl)]
    delegate int Number (int number);

    [DllImport ("libc")] static extern IntPtr dlsym (IntPtr handle, string name);

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Call (Number function, int number) { return function (number) + 1; }

    static void Main ()
    {
        var abs = (Number) Marshal.GetDelegateForFunctionPointer (dlsym (IntPtr.Zero, "abs"), typeof (Number));
        Number invoke = abs.Invoke;
        int sum = 0;
        for (int i = 0; i < 200; i++) {
            sum += Call (abs, -i) + Call (invoke, i);
            if (i % 50 == 49)
                Thread.Sleep (20);
        }
        Console.WriteLine (sum);
    }
}
