// A struct with a null SafeHandle cannot be marshalled.
using System;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

struct Holder { public int Number; public SafeFileHandle Handle; }

static class Program
{
    [DllImport("libc", EntryPoint = "getpid")]
    static extern int Pass(Holder holder);

    [DllImport("libc", EntryPoint = "getpid")]
    static extern int PassHandle(SafeFileHandle handle);

    static void Try(Func<int> call)
    {
        try
        {
            Console.WriteLine(call() > 0);
        }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType());
        }
    }

    static void Main()
    {
        Try(() => Pass(new Holder()));
        Try(() => Pass(new Holder { Handle = new SafeFileHandle(5, false) }));
        Try(() => PassHandle(null));
        Try(() => PassHandle(new SafeFileHandle(5, false)));
    }
}
