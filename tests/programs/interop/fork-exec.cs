// Children that managed code starts by fork and exec, as a shell does, while other threads of the parent work; and one that calls exit without a word to the machine.
// timeout: 120
// net: skip a process of .NET cannot fork
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
	[DllImport ("libc")] static extern int fork ();
	[DllImport ("libc")] static extern int execv (string path, string [] arguments);
	[DllImport ("libc")] static extern int waitpid (int pid, out int status, int options);
	[DllImport ("libc")] static extern void exit (int code);
	[DllImport ("libc")] static extern void _exit (int code);

	static volatile bool stops;

	static void Wait (string what, int pid) {
		int status;
		waitpid (pid, out status, 0);
		Console.WriteLine (what + ": " + ((status & 127) == 0 ? status >> 8 : -(status & 127)));
	}

	static void Main () {
		var other = new Thread (() => { while (!stops) GC.KeepAlive (new string ('x', 5000)); });
		other.Start ();
		for (int i = 0; i < 10; i++) {
			int pid = fork ();
			if (pid == 0) {
				execv ("/bin/sh", new [] { "sh", "-c", "echo from the shell; exit " + (20 + i), null });
				_exit (99);
			}
			Wait ("exec", pid);
		}
		int quick = fork ();
		if (quick == 0) _exit (7);
		Wait ("_exit", quick);
		int plain = fork ();
		if (plain == 0) exit (8);
		Wait ("exit", plain);
		int twice = fork ();
		if (twice == 0) {
			int inner = fork ();
			if (inner == 0) { Console.WriteLine ("grandchild"); _exit (5); }
			Wait ("inner", inner);
			Environment.Exit (6);
		}
		Wait ("outer", twice);
		stops = true;
		other.Join ();
	}
}
