// AssemblyResolve may not be answered with what is for reflection only; mscorlib may be named by its file in either context.
using System;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static void Try (string what, Func<object> work)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, work ());
        } catch (FileNotFoundException) {
            Console.WriteLine ("{0}: not found", what);
        }
    }

    static void Main ()
    {
        ResolveEventHandler builder = (sender, e) =>
            AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName (e.Name), AssemblyBuilderAccess.ReflectionOnly);
        AppDomain.CurrentDomain.AssemblyResolve += builder;
        Try ("builder", () => Assembly.Load ("Missing"));
        AppDomain.CurrentDomain.AssemblyResolve -= builder;
        ResolveEventHandler loaded = (sender, e) => Assembly.ReflectionOnlyLoadFrom (typeof (Program).Assembly.Location);
        AppDomain.CurrentDomain.AssemblyResolve += loaded;
        Try ("loaded", () => Assembly.Load ("Missing.Too"));
        AppDomain.CurrentDomain.AssemblyResolve -= loaded;
        ResolveEventHandler good = (sender, e) => typeof (Program).Assembly;
        AppDomain.CurrentDomain.AssemblyResolve += good;
        Try ("runnable", () => Assembly.Load ("Missing.As.Well") == typeof (Program).Assembly);
        AppDomain.CurrentDomain.AssemblyResolve -= good;
        Try ("mscorlib.dll", () => Assembly.Load ("mscorlib.dll") == typeof (object).Assembly);
        Try ("mscorlib.dll for reflection", () => Assembly.ReflectionOnlyLoad ("mscorlib.dll") == typeof (object).Assembly);
    }
}
