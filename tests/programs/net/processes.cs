// Process starts shells with pipes, environment, folders, exit codes, kills them and says what it cannot start.
using System;
using System.Diagnostics;
using System.Threading.Tasks;

static class Test
{
    static ProcessStartInfo Shell(string script)
    {
        var info = new ProcessStartInfo("/bin/sh") { RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
        info.ArgumentList.Add("-c");
        info.ArgumentList.Add(script);
        return info;
    }

    static async Task Main()
    {
        using (var p = Process.Start(Shell("cat; echo to error >&2; exit 3")))
        {
            await p.StandardInput.WriteAsync("through the pipe\n");
            p.StandardInput.Close();
            string text = await p.StandardOutput.ReadToEndAsync(), error = await p.StandardError.ReadToEndAsync();
            await p.WaitForExitAsync();
            Console.Write(text + error);
            Console.WriteLine(p.ExitCode + " " + p.HasExited);
        }
        var info = Shell("echo $COLOUR; pwd");
        info.Environment["COLOUR"] = "green";
        info.WorkingDirectory = "/";
        using (var p = Process.Start(info)) Console.Write(p.StandardOutput.ReadToEnd());
        using (var p = new Process { StartInfo = Shell("echo one; echo two"), EnableRaisingEvents = true })
        {
            var exited = new TaskCompletionSource();
            p.Exited += (_, _) => exited.SetResult();
            p.OutputDataReceived += (_, e) => { if (e.Data != null) Console.WriteLine("got " + e.Data); };
            p.Start();
            p.BeginOutputReadLine();
            p.WaitForExit();
            await exited.Task;
        }
        using (var p = Process.Start(Shell("exec sleep 100")))
        {
            Console.WriteLine(p.WaitForExit(1));
            p.Kill();
            p.WaitForExit();
            Console.WriteLine(p.ExitCode);
        }
        using (var self = Process.GetCurrentProcess()) Console.WriteLine(self.Id == Environment.ProcessId && self.WorkingSet64 > 0);
        try { Process.Start("/no/such/program"); } catch (System.ComponentModel.Win32Exception e) { Console.WriteLine(e.NativeErrorCode); }
    }
}
