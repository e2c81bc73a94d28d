// A forked child starts the machine's threads again, collects and finalizes. If it hangs, its parent ends it.
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
	const int NoHang = 1, Kill = 9;

	[DllImport ("libc")] static extern int fork ();
	[DllImport ("libc")] static extern int kill (int process, int signal);
	[DllImport ("libc")] static extern void _exit (int code);
	[DllImport ("libc")] static extern int waitpid (int process, out int status, int options);

	static void Main () {
		int child = fork ();
		if (child == 0) {
			GC.Collect ();
			GC.WaitForPendingFinalizers ();
			_exit (7);
		}
		int status;
		for (int looks = 0; waitpid (child, out status, NoHang) == 0; looks++) {
			if (looks == 3000) kill (child, Kill);
			Thread.Sleep (10);
		}
		Console.WriteLine ("child " + (status >> 8));
	}
}
