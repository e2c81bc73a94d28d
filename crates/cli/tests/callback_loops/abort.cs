// Aborts a thread in a native loop that calls back. The callback says that the loop goes on, and cannot say anything else once it is aborted itself.
using System;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
	delegate int Callback ();

	[DllImport ("loops")]
	static extern int wait_with_callback (Callback isOver);

	// Calls something, so that it has a safepoint, at which it is aborted.
	static int IsOver ()
	{
		return Environment.HasShutdownStarted ? 1 : 0;
	}

	static void Main ()
	{
		for (int i = 0; i < 3; i++) {
			bool hasReturned = false, isAborted = false;
			var waiting = new ManualResetEvent (false);
			var thread = new Thread (() => {
				try {
					waiting.Set ();
					wait_with_callback (IsOver);
					hasReturned = true;
				} catch (ThreadAbortException) {
					isAborted = true;
					Thread.ResetAbort ();
				}
			});
			thread.Start ();
			waiting.WaitOne ();
			thread.Abort ();
			thread.Join ();
			Console.WriteLine ("{0} {1}", hasReturned, isAborted);
		}
	}
}
