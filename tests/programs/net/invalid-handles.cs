// Events with handles that are none: the error is that of the call, whatever failed before.
using System;
using System.IO;
using System.Threading;
using Microsoft.Win32.SafeHandles;

static class Test
{
    static EventWaitHandle Invalid()
    {
        var handle = new EventWaitHandle(false, EventResetMode.ManualReset);
        handle.SafeWaitHandle = new SafeWaitHandle(0x7777770, ownsHandle: false);
        return handle;
    }

    static void Try(string title, Func<bool> call)
    {
        try { File.ReadAllText("/no/such/file"); } catch (DirectoryNotFoundException) { }
        try { Console.WriteLine(title + ": " + call()); }
        catch (IOException e) { Console.WriteLine(title + ": " + e.Message); }
    }

    static void Main()
    {
        Try("set", () => Invalid().Set());
        Try("reset", () => Invalid().Reset());
        Try("of a valid one", () => new EventWaitHandle(false, EventResetMode.AutoReset).Set());
    }
}
