// A handler of AssemblyResolve, which runs while a type is looked up, ends the process.
using System;
using System.Runtime.CompilerServices;

class Resolver
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Missing() { return new FromElsewhere(); }

    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, arguments) =>
        {
            Console.WriteLine("ok");
            Environment.Exit(0);
            return null;
        };
        Missing();
    }
}
