// What a call on a socket reports when its time-out has passed, when its socket is closed by another thread, and when the socket does not wait.
// io: each
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class Program {
	static string Try (Action action) {
		try { action (); return "ok"; }
		catch (SocketException e) { return e.SocketErrorCode.ToString (); }
		catch (IOException e) { return "IOException of " + ((e.InnerException as SocketException)?.SocketErrorCode.ToString () ?? e.InnerException?.GetType ().Name); }
		catch (ObjectDisposedException) { return "disposed"; }
	}

	// A call that had not begun when the socket was closed says so, and is made again.
	static void Closed (string what, Func<Socket> make, Action<Socket> action) {
		string result = "disposed";
		for (int delay = 20; result == "disposed"; delay *= 2) {
			var socket = make ();
			var thread = new Thread (() => result = Try (() => action (socket)));
			thread.Start ();
			Thread.Sleep (delay);
			socket.Close ();
			thread.Join ();
		}
		Console.WriteLine (what + " closed: " + result);
	}

	static Socket Pair (TcpListener listener, out Socket other) {
		var one = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
		one.Connect (listener.LocalEndpoint);
		other = listener.AcceptSocket ();
		return one;
	}

	static void Main () {
		var listener = new TcpListener (IPAddress.Loopback, 0);
		listener.Start ();
		Socket other, peer;
		var one = Pair (listener, out other);
		one.ReceiveTimeout = 50;
		one.SendTimeout = 50;
		Console.WriteLine ("receive: " + Try (() => one.Receive (new byte [4])) + ", connected " + one.Connected);
		SocketError error;
		one.Receive (new byte [4], 0, 4, SocketFlags.Peek, out error);
		Console.WriteLine ("peek: " + error);
		var stream = new NetworkStream (one);
		Console.WriteLine ("stream: " + Try (() => stream.Read (new byte [4], 0, 4)));
		Console.WriteLine ("fill: " + Try (() => { while (true) one.Send (new byte [1 << 16]); }) + ", connected " + one.Connected);
		other.Send (new byte [] { 1, 2 });
		Console.WriteLine ("still there: " + one.Receive (new byte [4]));
		one.Blocking = false;
		Console.WriteLine ("no waiting: " + Try (() => one.Receive (new byte [4])));
		other.Close ();
		one.Close ();
		Console.WriteLine ("connected " + one.Connected);
		var datagrams = new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
		datagrams.Bind (new IPEndPoint (IPAddress.Loopback, 0));
		datagrams.ReceiveTimeout = 50;
		EndPoint from = new IPEndPoint (IPAddress.Any, 0);
		Console.WriteLine ("datagram: " + Try (() => datagrams.Receive (new byte [4])) + " " + Try (() => datagrams.ReceiveFrom (new byte [4], ref from)));
		datagrams.Close ();
		Closed ("datagrams", () => { var d = new Socket (AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp); d.Bind (new IPEndPoint (IPAddress.Loopback, 0)); return d; }, s => s.Receive (new byte [4]));
		Closed ("receiving", () => Pair (listener, out peer), s => s.Receive (new byte [4]));
		Closed ("accepting", () => { var l = new TcpListener (IPAddress.Loopback, 0); l.Start (); return l.Server; }, s => s.Accept ());
		listener.Stop ();
	}
}
