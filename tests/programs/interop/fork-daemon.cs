// A program that becomes a daemon: its parent ends at once, the child is the program from then on, with the end of Main, its handlers and its foreground threads.
// net: skip a process of .NET cannot fork
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
	[DllImport ("libc")] static extern int daemon (int keepDirectory, int keepStreams);
	[DllImport ("libc")] static extern uint alarm (uint seconds);
	[DllImport ("libc")] static extern int fork ();
	[DllImport ("libc")] static extern int pipe (int [] ends);
	[DllImport ("libc")] static extern int close (int descriptor);
	[DllImport ("libc")] static extern IntPtr read (int descriptor, byte [] buffer, IntPtr count);

	static void Main () {
		// A process of its own becomes the daemon; this one waits until the daemon has ended, and with it the last writer of the pipe.
		var ends = new int [2];
		pipe (ends);
		if (fork () != 0) {
			close (ends [1]);
			Console.WriteLine (read (ends [0], new byte [1], (IntPtr) 1) + " bytes: the daemon is over");
			return;
		}
		AppDomain.CurrentDomain.ProcessExit += delegate { Console.WriteLine ("the end"); };
		var other = new Thread (() => Thread.Sleep (Timeout.Infinite));
		other.Start ();
		if (daemon (1, 1) != 0) Console.WriteLine ("refused");
		alarm (50);
		Console.WriteLine ("joined: " + other.Join (50000));
		var last = new Thread (() => { Thread.Sleep (50); Console.WriteLine ("the last thread"); });
		var signal = new ManualResetEvent (false);
		ThreadPool.QueueUserWorkItem (delegate { Console.WriteLine ("pool"); signal.Set (); });
		signal.WaitOne ();
		using (var timer = new Timer (delegate { signal.Set (); })) {
			signal.Reset ();
			timer.Change (5, Timeout.Infinite);
			Console.WriteLine ("timer: " + signal.WaitOne (50000));
		}
		last.Start ();
		Console.WriteLine ("Main returns");
	}
}
