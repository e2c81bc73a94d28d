// A thread that is suspended while its native code forks goes on in the child, where nobody could resume it; in the parent it stays suspended.
// timeout: 90
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
	const int Readable = 1, BytesWaiting = 0x541b;

	struct Poll { public int Descriptor; public short Events, Returned; }

	[DllImport ("libc")] static extern int fork ();
	[DllImport ("libc")] static extern int pipe (int [] ends);
	[DllImport ("libc")] static extern int dup2 (int from, int to);
	[DllImport ("libc")] static extern int poll (ref Poll wait, IntPtr count, int milliseconds);
	[DllImport ("libc")] static extern int ioctl (int descriptor, IntPtr request, out int value);
	[DllImport ("libc")] static extern IntPtr write (int descriptor, byte [] bytes, IntPtr count);
	[DllImport ("libc")] static extern uint alarm (uint seconds);
	[DllImport ("libc")] static extern void _exit (int code);
	[DllImport ("libc")] static extern int waitpid (int process, out int status, int options);
	[DllImport ("libc")] static extern IntPtr dlsym (IntPtr library, string name);
	[DllImport ("libc", EntryPoint = "__register_atfork")]
	static extern int RegisterAtFork (IntPtr prepare, IntPtr parent, IntPtr child, IntPtr library);

	static readonly int [] steps = new int [2], answers = new int [2];

	static void Main () {
		pipe (steps);
		pipe (answers);
		dup2 (steps [0], 0);
		// The fork reads two bytes first, in native code.
		IntPtr getchar = dlsym (IntPtr.Zero, "getchar");
		for (int i = 0; i < 2; i++) RegisterAtFork (getchar, IntPtr.Zero, IntPtr.Zero, IntPtr.Zero);
		alarm (0);
		var forker = new Thread (() => {
			int child = fork ();
			if (child == 0) {
				alarm (30);
				Thread.Sleep (1);
				write (answers [1], new byte [1], (IntPtr) 1);
				_exit (7);
			}
			int status;
			waitpid (child, out status, 0);
			Console.WriteLine ("the child: " + (status >> 8));
		});
		forker.Start ();
		write (steps [1], new byte [1], (IntPtr) 1);
		int left;
		do ioctl (0, (IntPtr) BytesWaiting, out left); while (left != 0);
		// It waits for the second byte.
		forker.Suspend ();
		write (steps [1], new byte [1], (IntPtr) 1);
		var answer = new Poll { Descriptor = answers [0], Events = Readable };
		Console.WriteLine ("answered: " + (poll (ref answer, (IntPtr) 1, 45000) == 1));
		Console.WriteLine ("in the parent: " + forker.ThreadState);
		forker.Resume ();
		forker.Join ();
	}
}
