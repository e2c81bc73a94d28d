// Forks on a thread that is not the main one, on a pool's thread and with a lock held that others wait for: the child ends with its last foreground thread, and its locks are sound.
// net: skip a process of .NET cannot fork
using System;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Program {
	[DllImport ("libc")] static extern int fork ();
	[DllImport ("libc")] static extern int waitpid (int pid, out int status, int options);
	[DllImport ("libc")] static extern uint alarm (uint seconds);

	static readonly object gate = new object ();
	static int waiting;

	static void Wait (string what, int pid) {
		int status;
		waitpid (pid, out status, 0);
		Console.WriteLine (what + ": " + ((status & 127) == 0 ? status >> 8 : -(status & 127)));
	}

	static string Talk () {
		var listener = new TcpListener (IPAddress.Loopback, 0);
		listener.Start ();
		var server = Task.Run (async () => {
			using (var c = await listener.AcceptTcpClientAsync ()) {
				var b = new byte [4];
				int n = await c.GetStream ().ReadAsync (b, 0, 4);
				await c.GetStream ().WriteAsync (b, 0, n);
			}
		});
		using (var client = new TcpClient ()) {
			client.Connect ((IPEndPoint) listener.LocalEndpoint);
			client.GetStream ().Write (new byte [] { 1, 2, 3 }, 0, 3);
			int got = client.GetStream ().Read (new byte [4], 0, 4);
			server.Wait ();
			listener.Stop ();
			return "bytes " + got;
		}
	}

	static void Main () {
		Console.WriteLine ("before: " + Talk ());
		var forker = new Thread (() => {
			int pid = fork ();
			if (pid == 0) {
				alarm (50);
				Environment.ExitCode = 11;
				new Thread (() => { Thread.Sleep (50); Console.WriteLine ("another thread of the child, " + Talk ()); }).Start ();
				Console.WriteLine ("the thread that forked");
				return;
			}
			Wait ("thread", pid);
		});
		forker.Start ();
		forker.Join ();
		Task.Run (() => {
			int pid = fork ();
			if (pid == 0) {
				alarm (50);
				Console.WriteLine ("pool: " + Task.Run (() => 5).Result);
				Environment.Exit (12);
			}
			Wait ("pool", pid);
		}).Wait ();
		var waiters = new Thread [3];
		lock (gate) {
			for (int i = 0; i < waiters.Length; i++) {
				waiters [i] = new Thread (() => { Interlocked.Increment (ref waiting); lock (gate) Monitor.Wait (gate, 1); });
				waiters [i].Start ();
			}
			while (waiting < waiters.Length) Thread.Sleep (1);
			Thread.Sleep (20);
			int pid = fork ();
			if (pid == 0) {
				alarm (50);
				Monitor.PulseAll (gate);
				Monitor.Exit (gate);
				for (int i = 0; i < 1000; i++) lock (gate) { }
				var t = new Thread (() => { for (int i = 0; i < 1000; i++) lock (gate) { } });
				t.Start ();
				for (int i = 0; i < 1000; i++) lock (gate) { }
				t.Join ();
				foreach (var w in waiters) w.Join ();
				Console.WriteLine ("locks are sound, " + Talk ());
				Environment.Exit (13);
			}
			Wait ("lock", pid);
		}
		foreach (var w in waiters) w.Join ();
		Console.WriteLine ("after: " + Talk ());
	}
}
