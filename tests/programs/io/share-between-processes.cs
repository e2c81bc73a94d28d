// FileShare between processes: a stream that shares nothing has the file for itself (single-instance locks), and other streams keep such a one away.
using System;
using System.Diagnostics;
using System.IO;
using System.Reflection;

class Program {
	static string Try (string path, FileAccess access, FileShare share) {
		try { new FileStream (path, FileMode.Open, access, share).Dispose (); return "opened"; } catch (IOException) { return "refused"; }
	}

	static void Child (string path, string what) {
#if NET
		// An assembly is no program of the system there.
		string program = Environment.ProcessPath, words = Assembly.GetExecutingAssembly ().Location + " child ";
#else
		string program = Assembly.GetExecutingAssembly ().Location, words = "child ";
#endif
		var info = new ProcessStartInfo (program, words + path) { UseShellExecute = false, RedirectStandardOutput = true };
		using (var process = Process.Start (info)) {
			Console.WriteLine (what + ": " + process.StandardOutput.ReadToEnd ().Trim ());
			process.WaitForExit ();
		}
	}

	static void Main (string [] args) {
		if (args.Length > 0) {
			Console.WriteLine ("reads " + Try (args [1], FileAccess.Read, FileShare.Read) + ", writes " + Try (args [1], FileAccess.Write, FileShare.ReadWrite) + ", alone " + Try (args [1], FileAccess.Read, FileShare.None));
			return;
		}
		string path = Path.GetTempFileName ();
		using (new FileStream (path, FileMode.Open, FileAccess.Write, FileShare.None)) Child (path, "the parent has it alone");
		using (new FileStream (path, FileMode.Open, FileAccess.Read, FileShare.Read)) Child (path, "the parent reads it");
		using (new FileStream (path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite)) Child (path, "the parent writes it");
		Child (path, "nobody has it");
		using (new FileStream (path, FileMode.Create, FileAccess.Write, FileShare.None)) Child (path, "the parent made it");
		File.Delete (path);
	}
}
