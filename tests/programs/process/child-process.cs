// A child process with its three streams redirected, and its exit code.
using System;
using System.Diagnostics;

static class Program
{
    static void Main()
    {
        ProcessStartInfo info = new ProcessStartInfo("/bin/sh", "-c \"read x; echo got $x; echo err >&2; exit 3\"")
        {
            UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true
        };
        using (Process p = Process.Start(info))
        {
            p.StandardInput.WriteLine("input");
            p.StandardInput.Close();
            string output = p.StandardOutput.ReadToEnd(), error = p.StandardError.ReadToEnd();
            p.WaitForExit();
            Console.WriteLine("{0} {1} {2}", output.Trim(), error.Trim(), p.ExitCode);
        }
    }
}
