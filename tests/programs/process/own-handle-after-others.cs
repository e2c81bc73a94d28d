// The first use of the own process's handle, when the last reference to the handle of a process that is not a child was closed as that of a wait handle: the watch of that process ends then.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Threading;
using Microsoft.Win32.SafeHandles;

class Program {
	[DllImport ("libc")]
	static extern int getppid ();

	static Process other;

	static void Main () {
		other = Process.GetProcessById (getppid ());
		using (var wait = new ManualResetEvent (false)) {
			wait.SafeWaitHandle = new SafeWaitHandle (other.Handle, true);
			Console.WriteLine ("ended: " + wait.WaitOne (0));
		}
		using (var own = Process.GetCurrentProcess ()) Console.WriteLine ("own: " + !own.HasExited);
		// The handle of `other` is closed already.
		GC.SuppressFinalize (other);
		GC.KeepAlive (other);
	}
}
