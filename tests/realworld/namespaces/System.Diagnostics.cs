// Processes, the environment, tracing, the console without a terminal.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading;
using static Sweep;

static class Program {
    static ProcessStartInfo Sh (string c) => new ProcessStartInfo ("/bin/sh", "-c \"" + c + "\"") { UseShellExecute = false, RedirectStandardOutput = true, RedirectStandardError = true, RedirectStandardInput = true };
    static void Main ()
    {
        Check ("Output and exit code", () => { using (var p = Process.Start (Sh ("echo out; echo err >&2; exit 3"))) { Print (p.StandardOutput.ReadToEnd (), p.StandardError.ReadToEnd ()); p.WaitForExit (); Print (p.ExitCode, p.HasExited, p.ExitTime >= p.StartTime); } });
        Check ("Standard input", () => { using (var p = Process.Start (Sh ("cat; echo done"))) { p.StandardInput.WriteLine ("line"); p.StandardInput.Close (); Print (p.StandardOutput.ReadToEnd ()); p.WaitForExit (); Print (p.ExitCode); } });
        Check ("Events", () => { var got = new List<string> (); var done = new ManualResetEvent (false); using (var p = new Process { StartInfo = Sh ("for i in 1 2 3; do echo $i; done"), EnableRaisingEvents = true }) { p.OutputDataReceived += (o, e) => { lock (got) got.Add (e.Data ?? "end"); }; p.Exited += (o, e) => done.Set (); p.Start (); p.BeginOutputReadLine (); p.BeginErrorReadLine (); p.WaitForExit (); Print (done.WaitOne (5000)); Wait (() => got.Count == 4); Print (got); } });
        Check ("Environment and folder", () => { var s = Sh ("echo $SWEEP; pwd"); s.EnvironmentVariables["SWEEP"] = "value"; s.WorkingDirectory = "/usr"; using (var p = Process.Start (s)) Print (p.StandardOutput.ReadToEnd ()); });
        Check ("Arguments", () => { foreach (var a in new[] { "a b", "\"a b\" c", "'x y' z", "\\\"q\\\"", "\"\" e" }) using (var p = Process.Start (new ProcessStartInfo ("/usr/bin/printf", "[%s] " + a) { UseShellExecute = false, RedirectStandardOutput = true })) Print (a, p.StandardOutput.ReadToEnd ()); });
        Check ("Kill", () => { using (var p = Process.Start (new ProcessStartInfo ("/bin/sleep", "100") { UseShellExecute = false })) { Print (p.HasExited, p.WaitForExit (50), p.Id > 0, p.Responding); p.Kill (); p.WaitForExit (); Print (p.HasExited, p.ExitCode); } });
        Check ("Kill twice", () => { using (var p = Process.Start (Sh ("exit 0"))) { p.WaitForExit (); try { p.Kill (); } catch (InvalidOperationException e) { Print (e.Message.Replace (p.Id.ToString (), "ID")); } } });
        Check ("Not found", () => Process.Start (new ProcessStartInfo ("/no/such/program") { UseShellExecute = false }));
        Check ("Not found in path", () => Process.Start (new ProcessStartInfo ("no-such-program-here", "x") { UseShellExecute = false }));
        Check ("Not executable", () => Process.Start (new ProcessStartInfo ("/etc/passwd") { UseShellExecute = false }));
        Check ("No file name", () => new Process ().Start ());
        Check ("Not started", () => Print (new Process ().HasExited));
        Check ("Exit code before exit", () => { using (var p = Process.Start (new ProcessStartInfo ("/bin/sleep", "5") { UseShellExecute = false })) { try { Print (p.ExitCode); } finally { p.Kill (); p.WaitForExit (); } } });
        Check ("Missing working directory", () => { var s = Sh ("pwd"); s.WorkingDirectory = "/no/such"; using (var p = Process.Start (s)) Print (p.StandardOutput.ReadToEnd ()); });
        Check ("Current process", () => { var p = Process.GetCurrentProcess (); Print (p.Id > 1, p.ProcessName.Length > 0, p.WorkingSet64 > 0, p.VirtualMemorySize64 > 0, p.PrivateMemorySize64 > 0, p.Threads.Count >= 0, p.TotalProcessorTime > TimeSpan.Zero, p.StartTime < DateTime.Now.AddSeconds (1), p.BasePriority, p.PriorityClass, p.MachineName, p.SessionId >= 0); });
        Check ("Modules", () => { var p = Process.GetCurrentProcess (); Print (p.Modules.Count > 0, p.MainModule != null); });
        Check ("By id", () => { Print (Process.GetProcessById (Process.GetCurrentProcess ().Id).Id == Process.GetCurrentProcess ().Id, Process.GetProcesses ().Length > 1); Process.GetProcessById (0x3ffffff); });
        Check ("By name", () => { using (var p = Process.Start (new ProcessStartInfo ("/bin/sleep", "20") { UseShellExecute = false })) { Thread.Sleep (100); Print (Process.GetProcessesByName ("sleep").Any (q => q.Id == p.Id), Process.GetProcessesByName ("nonesuch").Length); p.Kill (); p.WaitForExit (); } });
        Check ("Large output", () => { using (var p = Process.Start (Sh ("seq 1 100000"))) { Print (p.StandardOutput.ReadToEnd ().Length); p.WaitForExit (); } });
        Check ("Encoding of output", () => { var s = Sh ("printf 'h\\303\\244'"); s.StandardOutputEncoding = Encoding.GetEncoding (28591); using (var p = Process.Start (s)) Print (p.StandardOutput.ReadToEnd ().Length); });
        Check ("Signal exit", () => { using (var p = Process.Start (Sh ("kill -15 $$"))) { p.WaitForExit (); Print (p.ExitCode); } });
        Check ("Many at once", () => { var ps = Enumerable.Range (0, 20).Select (i => Process.Start (Sh ("exit " + i))).ToArray (); foreach (var p in ps) p.WaitForExit (); Print (ps.Select (p => p.ExitCode)); });
        Check ("Stopwatch", () => { var s = Stopwatch.StartNew (); Thread.Sleep (20); s.Stop (); Print (s.ElapsedMilliseconds >= 19, s.ElapsedTicks > 0, Stopwatch.Frequency, Stopwatch.IsHighResolution, s.IsRunning); s.Reset (); Print (s.Elapsed); });
        Check ("FileVersionInfo", () => { var v = FileVersionInfo.GetVersionInfo (typeof (object).Assembly.Location); Print (v.ProductName, v.FileVersion, v.CompanyName, v.FileDescription, v.LegalCopyright, v.ProductVersion, v.IsDebug, v.Language, v.InternalName, v.OriginalFilename, v.Comments); });
        Check ("StackTrace", () => { var t = new StackTrace (); Print (t.GetFrame (0).GetMethod ().DeclaringType.FullName.StartsWith ("Program"), t.FrameCount > 2, new StackFrame (0).GetMethod () != null, new StackTrace (new Exception ()).FrameCount); });
        Check ("Trace listeners", () => { var w = new StringWriter (); Trace.Listeners.Clear (); Trace.Listeners.Add (new TextWriterTraceListener (w)); Trace.WriteLine ("a"); Trace.Indent (); Trace.WriteLine ("b", "cat"); Trace.Unindent (); Trace.TraceError ("bad {0}", 1); Trace.Flush (); Print (w.ToString ().Replace (AppDomain.CurrentDomain.FriendlyName, "NAME")); });
        Check ("TraceSource", () => { var w = new StringWriter (); var s = new TraceSource ("src", SourceLevels.Warning); s.Listeners.Clear (); s.Listeners.Add (new TextWriterTraceListener (w)); s.TraceEvent (TraceEventType.Information, 1, "no"); s.TraceEvent (TraceEventType.Error, 2, "yes {0}", 3); s.Flush (); Print (w.ToString ()); });
        Check ("Debug.Assert", () => { Debug.Assert (true); Print (Debugger.IsAttached); });
        Check ("Conditional switches", () => { Print (new BooleanSwitch ("b", "d").Enabled, new TraceSwitch ("t", "d").Level); });
        Check ("Environment", () => { Print (Environment.OSVersion.Platform, Environment.ProcessorCount > 0, Environment.Is64BitProcess, Environment.Is64BitOperatingSystem, Environment.NewLine == "\n", Environment.SystemPageSize, Environment.UserName, Environment.UserDomainName == Environment.MachineName, Environment.Version, Environment.UserInteractive, Environment.SystemDirectory, Environment.TickCount != 0, Environment.CommandLine.Length > 0, Environment.HasShutdownStarted, Environment.WorkingSet); });
        Check ("Environment variables", () => { Environment.SetEnvironmentVariable ("SWEEP_A", "1"); Print (Environment.GetEnvironmentVariable ("SWEEP_A"), Environment.ExpandEnvironmentVariables ("x%SWEEP_A%y%NONE%")); Environment.SetEnvironmentVariable ("SWEEP_A", null); Print (Environment.GetEnvironmentVariable ("SWEEP_A"), Environment.GetEnvironmentVariables ().Contains ("PATH")); Environment.SetEnvironmentVariable ("", "x"); });
        Check ("Special folders", () => { foreach (Environment.SpecialFolder f in Enum.GetValues (typeof (Environment.SpecialFolder)).Cast<Environment.SpecialFolder> ().Distinct ()) Print (f, Environment.GetFolderPath (f)); });
        Check ("Environment.StackTrace", () => Print (Environment.StackTrace.Contains ("Program")));
        Check ("Console without terminal", () => { Print (Console.IsInputRedirected, Console.IsOutputRedirected, Console.Out.Encoding.WebName, Console.InputEncoding.WebName, Console.ForegroundColor, Console.BackgroundColor); Console.ForegroundColor = ConsoleColor.Red; Console.ResetColor (); Print (Console.In.ReadLine (), Console.Read (), Console.ReadLine ()); });
        Check ("Console sizes", () => Print (Console.WindowWidth, Console.BufferHeight));
        Check ("Console.SetOut", () => { var o = Console.Out; var w = new StringWriter (); Console.SetOut (w); Console.Write ("{0}-{1}-{2}-{3}-{4}", 1, 2, 3, 4, 5); Console.WriteLine ('c'); Console.Write (new[] { 'x', 'y' }); Console.SetOut (o); Print (w.ToString ()); var e = Console.Error; Console.SetError (TextWriter.Null); Console.Error.WriteLine ("x"); Console.SetError (e); Console.SetIn (new StringReader ("in")); Print (Console.ReadLine ()); });
        Check ("Console streams", () => { using (var s = Console.OpenStandardOutput ()) { var b = Encoding.UTF8.GetBytes ("raw\n"); s.Write (b, 0, b.Length); } Print (Console.OpenStandardInput ().CanRead); });
        Check ("Console.ReadKey redirected", () => Console.ReadKey ());
        Check ("Console.CancelKeyPress", () => { ConsoleCancelEventHandler h = (o, e) => { }; Console.CancelKeyPress += h; Console.CancelKeyPress -= h; Print ("ok"); });
        Check ("PerformanceCounter", () => { using (var c = new PerformanceCounter ("Process", "% Processor Time", Process.GetCurrentProcess ().Id.ToString ())) Print (c.CategoryName); });
        Check ("EventLog", () => Print (EventLog.SourceExists ("sweep")));
    }
}
