// A program that becomes a daemon: its parent ends at once, the child is the program from then on, with the end of Main, its handlers and its foreground threads.
// timeout: 60
using System;
using System.Runtime.InteropServices;
using System.Threading;

class Program {
	[DllImport ("libc")] static extern int daemon (int keepDirectory, int keepStreams);
	[DllImport ("libc")] static extern uint alarm (uint seconds);

	static void Main () {
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
