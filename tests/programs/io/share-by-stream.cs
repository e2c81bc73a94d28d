// FileShare counts for each open stream by itself: what it does and what it lets others do, for as long as it is open.
using System;
using System.IO;

class Program {
	static string path;

	static FileStream Open (FileAccess access, FileShare share) {
		return new FileStream (path, FileMode.Open, access, share);
	}

	static string Try (FileAccess access, FileShare share) {
		try { Open (access, share).Dispose (); return "opened"; } catch (IOException) { return "refused"; }
	}

	static void Main () {
		path = Path.GetTempFileName ();
		File.WriteAllText (path, "text");
		foreach (var first in new [] { FileAccess.Read, FileAccess.Write, FileAccess.ReadWrite })
			foreach (var share in new [] { FileShare.None, FileShare.Read, FileShare.Write, FileShare.ReadWrite }) {
				var line = first + ", " + share + ":";
				using (Open (first, share))
					foreach (var second in new [] { FileAccess.Read, FileAccess.Write, FileAccess.ReadWrite })
						foreach (var other in new [] { FileShare.None, FileShare.Read, FileShare.Write, FileShare.ReadWrite })
							line += Try (second, other) == "opened" ? " " + second + "+" + other : "";
				Console.WriteLine (line);
			}
		// The strictest of those that are open counts, whichever came first, and in whatever order they go.
		var lax = Open (FileAccess.Read, FileShare.ReadWrite);
		var strict = Open (FileAccess.Read, FileShare.Read);
		Console.WriteLine (Try (FileAccess.Write, FileShare.ReadWrite));
		lax.Dispose ();
		Console.WriteLine (Try (FileAccess.Write, FileShare.ReadWrite));
		strict.Dispose ();
		Console.WriteLine (Try (FileAccess.Write, FileShare.ReadWrite));
		// A stream that was refused counts for nothing.
		using (Open (FileAccess.Write, FileShare.ReadWrite)) {
			Console.WriteLine (Try (FileAccess.Read, FileShare.Read));
			Console.WriteLine (Try (FileAccess.Write, FileShare.Write));
		}
		File.Delete (path);
#if !NET
		// Devices are for everybody.
		using (var one = new FileStream ("/dev/null", FileMode.Open, FileAccess.Write, FileShare.None))
		using (var two = new FileStream ("/dev/null", FileMode.Open, FileAccess.Write, FileShare.None))
			Console.WriteLine ("twice");
#endif
	}
}
