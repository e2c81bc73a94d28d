// A handler of Exited reads the exit code although another thread disposes of the process meanwhile: Close waits for the handler, and after Close there is none.
using System;
using System.Diagnostics;
using System.Threading;

class Program {
	static int wrong, handled, late;

	static void Run (int index) {
		var process = new Process { StartInfo = new ProcessStartInfo ("/bin/sh", "-c \"exit 3\"") { UseShellExecute = false }, EnableRaisingEvents = true };
		int isClosed = 0;
		process.Exited += (sender, e) => {
			if (Volatile.Read (ref isClosed) != 0) Interlocked.Increment (ref late);
			// Half of the handlers are still at work when the process is disposed of.
			if (index % 2 == 0) Thread.Sleep (5);
			try {
				if (((Process) sender).ExitCode != 3) Interlocked.Increment (ref wrong);
			} catch (InvalidOperationException) {
				Interlocked.Increment (ref wrong);
			}
			Interlocked.Increment (ref handled);
		};
		process.Start ();
		process.WaitForExit ();
		process.Dispose ();
		Volatile.Write (ref isClosed, 1);
	}

	static void Main () {
		for (int index = 0; index < 60; index++) Run (index);
		Console.WriteLine ("wrong: " + wrong + ", after Dispose: " + late);
		Console.WriteLine (handled > 0 && handled <= 60);
		// A handler may close its own process.
		using (var over = new ManualResetEvent (false)) {
			var own = new Process { StartInfo = new ProcessStartInfo ("/bin/true") { UseShellExecute = false }, EnableRaisingEvents = true };
			own.Exited += (sender, e) => { Console.WriteLine ("exit code " + own.ExitCode); own.Close (); over.Set (); };
			own.Start ();
			Console.WriteLine (over.WaitOne (20000));
		}
	}
}
