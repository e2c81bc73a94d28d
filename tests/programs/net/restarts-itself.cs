// The process's executable: `Environment.ProcessPath` and the main module agree, and a program starts itself again by it, with arguments, a folder and variables.
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;

static class Program
{
    static string Path => Environment.ProcessPath!;

    static void Tell(string who)
    {
        using var process = Process.GetCurrentProcess();
        var first = process.Modules.Cast<ProcessModule>().First();
        Console.WriteLine($"{who}: dotnet {System.IO.Path.GetFileName(Path).StartsWith("dotnet")}, there {File.Exists(Path)}, " +
            $"module {process.MainModule!.FileName == Path}, {process.MainModule.ModuleName == System.IO.Path.GetFileName(Path)}, first {first.FileName == Path}");
    }

    static int Main(string[] args)
    {
        if (args.Length > 0)
        {
            Tell(string.Join("|", args) + " " + Environment.GetEnvironmentVariable("TOLD") + " " + (Environment.CurrentDirectory == "/"));
            return 7;
        }
        Tell("parent");
        var start = new ProcessStartInfo(Path) { WorkingDirectory = "/", RedirectStandardOutput = true };
        start.ArgumentList.Add(Environment.GetCommandLineArgs()[0]);
        foreach (var word in new[] { "a b", "", "--stats", "\u00e4" }) start.ArgumentList.Add(word);
        start.Environment["TOLD"] = "told";
        using (var child = Process.Start(start)!)
        {
            Console.Write(child.StandardOutput.ReadToEnd());
            child.WaitForExit();
            Console.WriteLine(child.ExitCode);
        }
        // Another program keeps its words.
        using var other = Process.Start(new ProcessStartInfo("/bin/echo", "exec app.dll") { RedirectStandardOutput = true })!;
        Console.Write(other.StandardOutput.ReadToEnd());
        return 0;
    }
}
