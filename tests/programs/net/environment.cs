// What Environment, RuntimeInformation and AppContext say, as far as it is the same everywhere.
// exit: 5
// env: SAKI_TEST_WORD=blue
using System;
using System.Collections;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

Console.WriteLine(Environment.GetEnvironmentVariable("SAKI_TEST_WORD") + "|" + Environment.GetEnvironmentVariable("SAKI_TEST_NONE") + "|");
Environment.SetEnvironmentVariable("SAKI_TEST_MORE", "1");
Console.WriteLine(((IDictionary)Environment.GetEnvironmentVariables())["SAKI_TEST_MORE"] + " " + Environment.ExpandEnvironmentVariables("<%SAKI_TEST_WORD%>"));
Console.WriteLine(Environment.Version.Major >= 9);
Console.WriteLine(RuntimeInformation.FrameworkDescription.StartsWith(".NET ") + " " + RuntimeInformation.IsOSPlatform(OSPlatform.Linux) + " " + OperatingSystem.IsWindows());
Console.WriteLine(Environment.Is64BitProcess + " " + Environment.NewLine.Length + " " + (Environment.ProcessorCount > 0) + " " + (Environment.ProcessPath != null));
Console.WriteLine(Assembly.GetEntryAssembly().GetName().Name + " " + Assembly.GetEntryAssembly().GetCustomAttribute<TargetFrameworkAttribute>().FrameworkName);
Console.WriteLine(AppContext.BaseDirectory == System.IO.Path.GetDirectoryName(Assembly.GetEntryAssembly().Location) + "/");
Console.WriteLine(AppContext.TryGetSwitch("Saki.Test", out bool set) + " " + set);
AppContext.SetSwitch("Saki.Test", true);
Console.WriteLine(AppContext.TryGetSwitch("Saki.Test", out set) + " " + set);
Console.WriteLine(typeof(object).Assembly.GetName().Name + " " + AppDomain.CurrentDomain.IsDefaultAppDomain());
Console.WriteLine(Environment.StackTrace.Contains("Main"));
AppDomain.CurrentDomain.ProcessExit += (_, _) => Console.WriteLine("process exit " + Environment.ExitCode);
Environment.Exit(5);
