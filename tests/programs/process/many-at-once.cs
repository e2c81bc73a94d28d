// Processes that start and end in several threads while another thread keeps asking for a process that is none of them: each end is
// noticed, and nothing stays open.
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Program
{
    [DllImport ("libc")] static extern IntPtr readlink (string path, byte[] target, IntPtr size);

    static int ended, wrong;

    static void Start ()
    {
        var info = new ProcessStartInfo ("sh", "-c \"exit 3\"") { UseShellExecute = false, RedirectStandardOutput = true };
        for (int i = 0; i < 60; i++) {
            using (Process process = Process.Start (info)) {
                process.BeginOutputReadLine ();
                process.WaitForExit ();
                if (process.ExitCode != 3)
                    Interlocked.Increment (ref wrong);
            }
            Interlocked.Increment (ref ended);
        }
    }

    static int ProcessDescriptors ()
    {
        int count = 0;
        foreach (string path in Directory.GetFiles ("/proc/self/fd")) {
            var target = new byte[100];
            int length = (int) readlink (path, target, (IntPtr) target.Length);
            if (length > 0 && Encoding.ASCII.GetString (target, 0, length).Contains ("pidfd"))
                count++;
        }
        return count;
    }

    static void Main ()
    {
        var threads = new Thread[6];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread (Start);
            threads[i].Start ();
        }
        foreach (Thread thread in threads) {
            while (!thread.Join (0))
                using (Process.GetProcessById (1)) {}
        }
        Console.WriteLine ("{0} ended, {1} wrong, {2}", ended, wrong, ProcessDescriptors () < 4 ? "all closed" : "some open");
    }
}
