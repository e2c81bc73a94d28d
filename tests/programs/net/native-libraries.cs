// Native libraries that are not there, functions that they do not have, and who finds a library for a P/Invoke: the
// assembly's resolver, the load context, its event.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Loader;

static class Program
{
    [DllImport("no-such-library")] static extern int Missing();
    [DllImport("libc", EntryPoint = "no_such_function", CharSet = CharSet.Unicode)] static extern int MissingFunction();
    [DllImport("libc", EntryPoint = "no_such_function", CharSet = CharSet.Ansi)] static extern int MissingAnsi();
    [DllImport("/tmp/no/such.so")] static extern int MissingPath();
    [DllImport("__Internal", EntryPoint = "getpid")] static extern int OfProgram();
    [DllImport("resolved", EntryPoint = "getpid")] static extern int Resolved();
    [DllImport("by event", EntryPoint = "getpid")] static extern int ByEvent();
    [DllImport("nowhere", EntryPoint = "getpid"), DefaultDllImportSearchPaths(DllImportSearchPath.System32)] static extern int Nowhere();
    [DllImport("libc")] static extern int getpid();

    static void Try(string what, Action action)
    {
        try
        {
            action();
            Console.WriteLine($"{what}: done");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{what}: {e.GetType()}: {e.Message.Split('\n')[0]}");
        }
    }

    static void Main()
    {
        Assembly own = typeof(Program).Assembly;
        Try("library", () => Missing());
        Try("function", () => MissingFunction());
        Try("ansi", () => MissingAnsi());
        Try("path", () => MissingPath());
        Try("of the program", () => OfProgram());
        Try("load", () => NativeLibrary.Load("no-such-library"));
        Try("load path", () => NativeLibrary.Load("/tmp/no/such.so"));
        Try("load for an assembly", () => NativeLibrary.Load("no-such-library", own, null));
        Console.WriteLine(NativeLibrary.TryLoad("no-such-library", out IntPtr none) + " " + none);
        Console.WriteLine(NativeLibrary.TryLoad("no-such-library", own, DllImportSearchPath.AssemblyDirectory, out none) + " " + none);
        IntPtr c = NativeLibrary.Load("libc.so.6");
        Try("export", () => NativeLibrary.GetExport(c, "no_such_function"));
        Console.WriteLine(NativeLibrary.TryGetExport(c, "getpid", out IntPtr address) + " " + (address != 0));
        NativeLibrary.SetDllImportResolver(own, (name, assembly, paths) =>
        {
            Console.WriteLine($"resolver: {name} {assembly == own} {paths?.ToString() ?? "no paths"}");
            return name == "resolved" ? c : 0;
        });
        AssemblyLoadContext.Default.ResolvingUnmanagedDll += (assembly, name) =>
        {
            Console.WriteLine($"event: {name} {assembly == own}");
            return name == "by event" ? c : 0;
        };
        Try("resolved", () => Console.WriteLine(Resolved() == Environment.ProcessId));
        Try("by event", () => Console.WriteLine(ByEvent() == Environment.ProcessId));
        Try("nowhere", () => Nowhere());
        Try("found", () => Console.WriteLine(getpid() == Environment.ProcessId));
        Try("again", () => Console.WriteLine(Resolved() == Environment.ProcessId));
        Try("second resolver", () => NativeLibrary.SetDllImportResolver(own, (name, assembly, paths) => 0));

        var context = new Context();
        Assembly copy = context.LoadFromAssemblyPath(own.Location);
        Try("context", () => copy.GetType("InContext")!.GetMethod("Call")!.Invoke(null, null));
    }
}

public static class InContext
{
    [DllImport("of the context", EntryPoint = "getpid")] static extern int OfContext();

    public static void Call() => Console.WriteLine(OfContext() == Environment.ProcessId);
}

class Context : AssemblyLoadContext
{
    protected override IntPtr LoadUnmanagedDll(string name)
    {
        Console.WriteLine($"LoadUnmanagedDll: {name}");
        return LoadUnmanagedDllFromPath("/lib/x86_64-linux-gnu/libc.so.6");
    }
}
