// Processes: arguments, streams, environment, exit codes, killing, what cannot be started.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
static class P {
    static Process Start(string file, string args, bool redirect) {
        var psi = new ProcessStartInfo(file, args) { UseShellExecute = false };
        if (redirect) psi.RedirectStandardOutput = psi.RedirectStandardError = psi.RedirectStandardInput = true;
        return Process.Start(psi);
    }
    static void Main() {
        using (var p = Start("/bin/echo", "one 'two three' \"four five\" \\\"six", true)) {
            Console.Write(p.StandardOutput.ReadToEnd());
            p.WaitForExit();
            Console.WriteLine(p.ExitCode + " " + p.HasExited);
        }
        using (var p = Start("sh", "-c \"echo err >&2; exit 7\"", true)) {
            Console.Write(p.StandardError.ReadToEnd());
            p.WaitForExit();
            Console.WriteLine(p.ExitCode);
        }
        using (var p = Start("cat", "", true)) {
            p.StandardInput.WriteLine("through cat");
            p.StandardInput.Close();
            Console.Write(p.StandardOutput.ReadToEnd());
            Console.WriteLine(p.WaitForExit(5000) + " " + p.ExitCode);
        }
        using (var p = Start("sleep", "60", false)) {
            Console.WriteLine(p.WaitForExit(50) + " " + p.HasExited + " " + p.ProcessName);
            Console.WriteLine(Process.GetProcessById(p.Id).Id == p.Id);
            Console.WriteLine(Process.GetProcesses().Any(q => q.Id == p.Id));
            try { int c = p.ExitCode; } catch (InvalidOperationException e) { Console.WriteLine("IOE " + e.Message); }
            var started = p.StartTime;
            p.Kill();
            p.WaitForExit();
            Console.WriteLine(p.ExitCode + " " + (p.ExitTime >= started));
            try { Console.WriteLine(p.ProcessName); } catch (Exception e) { Console.WriteLine(e.GetType().Name + e.Message); }
        }
        try { Start("/nonexistent/program", "", false); } catch (System.ComponentModel.Win32Exception e) { Console.WriteLine(e.NativeErrorCode + " " + e.Message); }
        try { Start("no-such-program-here", "", false); } catch (System.ComponentModel.Win32Exception e) { Console.WriteLine(e.NativeErrorCode + " " + e.Message); }
        try { Start("/etc/passwd", "", false); } catch (System.ComponentModel.Win32Exception e) { Console.WriteLine(e.NativeErrorCode + " " + e.Message); }
        var psi = new ProcessStartInfo("sh", "-c \"echo $GREETING; pwd\"") { UseShellExecute = false, RedirectStandardOutput = true, WorkingDirectory = "/tmp" };
        psi.EnvironmentVariables["GREETING"] = "hello from parent";
        using (var p = Process.Start(psi)) Console.Write(p.StandardOutput.ReadToEnd());
        psi = new ProcessStartInfo("echo", "x") { UseShellExecute = false, RedirectStandardOutput = true, WorkingDirectory = "/nonexistent" };
        try { using (var p = Process.Start(psi)) { Console.Write(p.StandardOutput.ReadToEnd()); p.WaitForExit(); Console.WriteLine("cwd " + p.ExitCode); } } catch (Exception e) { Console.WriteLine(e.GetType() + e.Message); }
        using (var p = Process.Start("true")) { p.WaitForExit(); Console.WriteLine("shell " + p.ExitCode); }
        try { Process.GetProcessById(999999999); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
        var t = Process.Start(new ProcessStartInfo("sh", "-c \"kill -TERM $$\"") { UseShellExecute = false }); t.WaitForExit(); Console.WriteLine(t.ExitCode);
    }
}
