// Exited is raised for processes that have ended before, or while, events are asked for.
using System;
using System.Diagnostics;
using System.Threading;

static class Program
{
    static void Main ()
    {
        int raised = 0;
        for (int i = 0; i < 150; i++) {
            using (var process = Process.Start (new ProcessStartInfo ("/bin/true") { UseShellExecute = false }))
            using (var exited = new ManualResetEvent (false)) {
                process.Exited += (sender, e) => exited.Set ();
                if (i % 3 == 0)
                    Thread.Sleep (3);
                process.EnableRaisingEvents = true;
                if (exited.WaitOne (20000))
                    raised++;
            }
        }
        Console.WriteLine (raised);
    }
}
