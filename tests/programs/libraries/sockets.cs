// Sockets: closing under blocked and pending calls, options, selection, shutdown, Unix sockets, many clients.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
static class P {
    static void Try(string what, Action a) {
        try { a(); Console.WriteLine(what + " ok"); }
        catch (SocketException e) { Console.WriteLine(what + " " + e.SocketErrorCode + " " + e.ErrorCode); }
        catch (Exception e) { Console.WriteLine(what + " " + e.GetType().Name); }
    }
    class UnixEP : EndPoint {
        string path; public UnixEP(string p) { path = p; }
        public override AddressFamily AddressFamily { get { return AddressFamily.Unix; } }
        public override EndPoint Create(SocketAddress a) { if (a.Size == 2) return new UnixEP("unnamed"); var b = new byte[a.Size - 2]; for (int i = 0; i < b.Length; i++) b[i] = a[i + 2]; return new UnixEP(Encoding.UTF8.GetString(b).TrimEnd('\0')); }
        public override SocketAddress Serialize() { var b = Encoding.UTF8.GetBytes(path); var s = new SocketAddress(AddressFamily.Unix, 2 + b.Length + 1); for (int i = 0; i < b.Length; i++) s[2 + i] = b[i]; s[2 + b.Length] = 0; return s; }
        public override string ToString() { return path; }
    }
    static Socket Tcp() { return new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); }
    static void Pair(out Socket a, out Socket b) {
        var l = Tcp(); l.Bind(new IPEndPoint(IPAddress.Loopback, 0)); l.Listen(5);
        a = Tcp(); a.Connect(l.LocalEndPoint); b = l.Accept(); l.Close();
    }
    // Closes a socket under a call in another thread. A call that had not begun then says that the socket is closed, and is made again.
    static void Closed(string what, Func<Socket> make, Action<Socket> call) {
        string outcome = ""; bool ended = false;
        for (int delay = 100; delay < 4000 && (outcome == "" || outcome == "ObjectDisposedException"); delay *= 2) {
            var socket = make();
            var thread = new Thread(() => {
                try { call(socket); outcome = "ok"; }
                catch (SocketException e) { outcome = e.SocketErrorCode + " " + e.ErrorCode; }
                catch (Exception e) { outcome = e.GetType().Name; }
            });
            thread.Start(); Thread.Sleep(delay); socket.Close(); ended = thread.Join(10000);
        }
        Console.WriteLine(what + " " + outcome); Console.WriteLine(ended);
    }
    static void Main() {
        // blocked accept, receive closed from another thread
        Closed("accept", () => { var x = Tcp(); x.Bind(new IPEndPoint(IPAddress.Loopback, 0)); x.Listen(1); return x; }, s => s.Accept());
        Socket a = null, b = null;
        Closed("receive", () => { if (a != null) a.Close(); Pair(out a, out b); return b; }, s => Console.WriteLine(s.Receive(new byte[4])));
#if NET
        // The system is told to reset the connection.
        Try("receive of reset", () => a.Receive(new byte[1]));
#else
        Console.WriteLine(a.Receive(new byte[1]));
#endif
        Try("after close", () => b.Send(new byte[1])); a.Close();
        Closed("udp receive", () => { var u = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp); u.Bind(new IPEndPoint(IPAddress.Loopback, 0)); return u; },
            s => { EndPoint ep = new IPEndPoint(IPAddress.Any, 0); s.ReceiveFrom(new byte[4], ref ep); });
        // async pending then closed
        var l = Tcp(); l.Bind(new IPEndPoint(IPAddress.Loopback, 0)); l.Listen(1);
        var ev = new ManualResetEvent(false); var ar = l.BeginAccept(r => { Try("endaccept", () => l.EndAccept(r)); ev.Set(); }, null); Thread.Sleep(50); l.Close(); Console.WriteLine(ev.WaitOne(5000));
        // gather/scatter
        Pair(out a, out b);
        Console.WriteLine(a.Send(new List<ArraySegment<byte>> { new ArraySegment<byte>(new byte[] { 1, 2, 3 }), new ArraySegment<byte>(new byte[] { 4, 5 }, 1, 1) }));
        var r1 = new byte[2]; var r2 = new byte[10]; Console.WriteLine(b.Available); Console.WriteLine(b.Receive(new List<ArraySegment<byte>> { new ArraySegment<byte>(r1), new ArraySegment<byte>(r2) }) + " " + r1[1] + r2[0] + r2[1]);
        a.Send(new byte[] { 9 }); Thread.Sleep(20); Console.WriteLine(b.Receive(r1, SocketFlags.Peek) + " " + r1[0]); Console.WriteLine(b.Receive(r1));
        // nonblocking
        b.Blocking = false; Try("would block", () => b.Receive(r1)); b.Blocking = true;
        b.ReceiveTimeout = 50; Console.WriteLine(b.ReceiveTimeout); Try("timeout", () => b.Receive(r1));
        // select, poll
        var rd = new ArrayList { a, b }; var wr = new ArrayList { a }; var er = new ArrayList { a, b };
        Socket.Select(rd, wr, er, 10000); Console.WriteLine(rd.Count + " " + wr.Count + " " + er.Count);
        a.Send(new byte[1]); rd = new ArrayList { a, b }; Socket.Select(rd, null, null, 1000000); Console.WriteLine(rd.Count + " " + (rd[0] == b)); Console.WriteLine(b.Poll(1000, SelectMode.SelectRead) + " " + a.Poll(1000, SelectMode.SelectRead) + " " + a.Poll(0, SelectMode.SelectError));
        // options
        foreach (SocketOptionName n in new[] { SocketOptionName.KeepAlive, SocketOptionName.ReuseAddress, SocketOptionName.Type, SocketOptionName.Error, SocketOptionName.DontLinger, SocketOptionName.ExclusiveAddressUse, SocketOptionName.AcceptConnection, SocketOptionName.MaxConnections, SocketOptionName.UseLoopback })
            Try("opt " + n, () => Console.WriteLine(a.GetSocketOption(SocketOptionLevel.Socket, n)));
        a.NoDelay = true; Console.WriteLine(a.NoDelay); a.LingerState = new LingerOption(true, 3); Console.WriteLine(a.LingerState.Enabled + " " + a.LingerState.LingerTime);
        a.SendBufferSize = 20000; Console.WriteLine(a.SendBufferSize); a.Ttl = 42; Console.WriteLine(a.Ttl); a.DontFragment = true; Console.WriteLine(a.DontFragment);
        Console.WriteLine(BitConverter.ToString(a.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, 4)));
        a.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true); Console.WriteLine(a.GetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive));
        Try("keepalive", () => Console.WriteLine(a.IOControl(IOControlCode.KeepAliveValues, new byte[] { 1, 0, 0, 0, 0x10, 0x27, 0, 0, 0xe8, 3, 0, 0 }, null)));
        Try("dataToRead", () => { var o = new byte[4]; Console.WriteLine(b.IOControl(IOControlCode.DataToRead, null, o) + " " + o[0]); });
        a.LingerState = new LingerOption(false, 0);
        // shutdown
        b.ReceiveTimeout = 0; Console.WriteLine(b.Receive(r1)); a.Shutdown(SocketShutdown.Send); Console.WriteLine(b.Receive(r1)); Try("send after shutdown", () => a.Send(r1)); b.Shutdown(SocketShutdown.Both); Try("recv after shutdown", () => Console.WriteLine(b.Receive(r1)));
        Console.WriteLine(a.Connected + " " + (a.RemoteEndPoint == null)); a.Close(); b.Close();
        Try("bind in use", () => { var x = Tcp(); x.Bind(new IPEndPoint(IPAddress.Loopback, 0)); x.Listen(1); var y = Tcp(); y.Bind(x.LocalEndPoint); });
        Try("bind foreign", () => Tcp().Bind(new IPEndPoint(IPAddress.Parse("203.0.113.7"), 0)));
        Try("not connected", () => Tcp().Send(r1)); Try("bad proto", () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Udp));
        // disconnect
        Pair(out a, out b); a.Disconnect(true); Console.WriteLine(a.Connected + " " + b.Receive(r1)); a.Close(); b.Close();
        // unix
        var path = Path.GetTempFileName(); File.Delete(path);
        Try("unix", () => { var x = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.IP); x.Bind(new UnixEP(path)); x.Listen(1); var y = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.IP); y.Connect(new UnixEP(path)); var z = x.Accept(); z.Send(Encoding.ASCII.GetBytes("unix!")); var q = new byte[10]; Console.WriteLine(Encoding.ASCII.GetString(q, 0, y.Receive(q)) + " " + (x.LocalEndPoint.ToString() == path)); x.Close(); y.Close(); z.Close(); });
        File.Delete(path); Try("unix refused", () => new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.IP).Connect(new UnixEP(path)));
        // multicast membership, sendfile
        File.WriteAllText(path, "file body"); Pair(out a, out b); a.SendFile(path, new byte[] { 65 }, new byte[] { 66 }, TransmitFileOptions.UseDefaultWorkerThread); a.Close(); Console.WriteLine(new StreamReader(new NetworkStream(b)).ReadToEnd()); Try("sendfile missing", () => { Socket c, d; Pair(out c, out d); c.SendFile("/nonexistent"); }); File.Delete(path);
        // SocketAsyncEventArgs
        Pair(out a, out b); var e1 = new SocketAsyncEventArgs(); e1.SetBuffer(new byte[16], 0, 16); ev.Reset(); e1.Completed += (s, e) => ev.Set(); if (!b.ReceiveAsync(e1)) ev.Set(); a.Send(new byte[] { 1, 2 }); Console.WriteLine(ev.WaitOne(5000) + " " + e1.BytesTransferred + " " + e1.SocketError + " " + e1.LastOperation);
        var c1 = Tcp(); var e2 = new SocketAsyncEventArgs { RemoteEndPoint = a.LocalEndPoint }; ev.Reset(); e2.Completed += (s, e) => ev.Set(); if (!c1.ConnectAsync(e2)) ev.Set(); Console.WriteLine(ev.WaitOne(5000) + " " + e2.SocketError);
        // DNS
        Try("dns", () => { Console.WriteLine(Dns.GetHostAddresses("localhost").Contains(IPAddress.Loopback) + " " + (Dns.GetHostName() == File.ReadAllText("/proc/sys/kernel/hostname").Trim())); });
        // many clients
        var many = new TcpListener(IPAddress.Loopback, 0); many.Start(); var srv = Task.Run(async () => { for (int i = 0; i < 50; i++) { var c = await many.AcceptTcpClientAsync(); var _ = Task.Run(async () => { using (c) { var buf = new byte[100]; int n; while ((n = await c.GetStream().ReadAsync(buf, 0, 100)) > 0) await c.GetStream().WriteAsync(buf, 0, n); } }); } });
        var clients = Enumerable.Range(0, 50).Select(async i => { using (var c = new TcpClient()) { await c.ConnectAsync(IPAddress.Loopback, ((IPEndPoint)many.LocalEndpoint).Port); int sum = 0; for (int k = 0; k < 20; k++) { await c.GetStream().WriteAsync(new byte[] { (byte)i }, 0, 1); var buf = new byte[1]; await c.GetStream().ReadAsync(buf, 0, 1); sum += buf[0]; } return sum; } }).ToArray();
        Console.WriteLine(Task.WaitAll(clients, 20000) + " " + clients.Sum(x => x.Result)); many.Stop();
    }
}
