// A handler of AssemblyResolve, which runs while a type is looked up, ends the process: natively, since finalizers would need the lock that the handler runs under.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

class Resolver
{
    [DllImport("libc")]
    static extern void exit(int code);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Missing() { return new FromElsewhere(); }

    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, arguments) =>
        {
            Console.WriteLine("ok");
            exit(0);
            return null;
        };
        Missing();
    }
}
