// What is told when a native library or function is not there, and variable arguments, which are refused.
using System;
using System.Linq;
using System.Runtime.InteropServices;

static class Program {
    [DllImport ("no-such-library")] static extern void a ();
    [DllImport ("libc", CharSet = CharSet.Unicode)] static extern void no_such_function ();
#if !NET
    [DllImport ("libc", CallingConvention = CallingConvention.Cdecl)] static extern int printf (string format, __arglist);
#endif

    static void Main ()
    {
        try {
            a ();
        } catch (DllNotFoundException e) {
            Console.WriteLine (e.Message.Split ('\n')[0]);
            Console.WriteLine ("{0} {1}", e.Message.Contains ("libno-such-library.so"), e.Message.Contains ("/no-such-library: not there"));
        }
        try {
            no_such_function ();
        } catch (EntryPointNotFoundException e) {
            Console.WriteLine (e.Message);
        }
#if !NET
        try {
            printf ("%d\n", __arglist (1));
        } catch (MarshalDirectiveException e) {
            Console.WriteLine (e.Message);
        }
#endif
    }
}
