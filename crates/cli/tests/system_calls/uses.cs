// Uses much of the system, and prints what came of it.
using System;
using System.Diagnostics;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.IO.Pipes;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

class Program {
	static void Main () {
		Console.WriteLine ("hello");
		var path = Path.GetTempFileName ();
		File.WriteAllText (path, "12345");
		File.Copy (path, path + ".copy");
		Console.WriteLine ("file: " + File.ReadAllText (path + ".copy").Length);
		File.Delete (path + ".copy");
		File.Delete (path);
		using (var server = new AnonymousPipeServerStream (PipeDirection.Out))
		using (var client = new AnonymousPipeClientStream (PipeDirection.In, server.ClientSafePipeHandle)) {
			var reader = Task.Run (() => { int n = 0; while (n < 4) n += client.Read (new byte [4], 0, 4); return n; });
			Thread.Sleep (5);
			server.Write (new byte [4], 0, 4);
			Console.WriteLine ("pipe: " + reader.Result);
		}
		var listener = new TcpListener (IPAddress.Loopback, 0);
		listener.Start ();
		using (var one = new TcpClient ()) {
			one.Connect ((IPEndPoint) listener.LocalEndpoint);
			using (var other = listener.AcceptTcpClient ()) {
				var reader = other.GetStream ().ReadAsync (new byte [8], 0, 8);
				Thread.Sleep (5);
				one.GetStream ().Write (new byte [3], 0, 3);
				Console.WriteLine ("socket: " + reader.Result);
			}
		}
		listener.Stop ();
		int sum = 0;
		var threads = Enumerable.Range (0, 4).Select (t => new Thread (() => { for (int i = t; i < 1000; i += 4) Interlocked.Add (ref sum, i); Thread.Sleep (1); })).ToArray ();
		foreach (var thread in threads) thread.Start ();
		foreach (var thread in threads) thread.Join ();
		Console.WriteLine ("threads: " + sum);
		using (var map = MemoryMappedFile.CreateNew (null, 4096))
		using (var view = map.CreateViewAccessor ()) {
			view.Write (100, 7);
			Console.WriteLine ("mapped: " + view.ReadInt32 (100));
		}
		using (var process = Process.Start (new ProcessStartInfo ("/bin/sh", "-c \"exit 3\"") { UseShellExecute = false })) {
			process.WaitForExit ();
			Console.WriteLine ("process: " + process.ExitCode);
		}
		for (int i = 0; i < 3; i++) {
			var garbage = Enumerable.Range (0, 1000).Select (n => new byte [5000]).ToArray ();
			GC.KeepAlive (garbage);
			GC.Collect ();
		}
		new Random ().Next ();
		Guid.NewGuid ();
		Console.WriteLine ("collected");
	}
}
