// A directory is no program.
using System;
using System.ComponentModel;
using System.Diagnostics;

static class Program {
    static void Main ()
    {
        try {
            Process.Start (new ProcessStartInfo ("/usr") { UseShellExecute = false });
        } catch (Win32Exception e) {
            Console.WriteLine ("{0}: {1}", e.NativeErrorCode, e.Message);
        }
    }
}
