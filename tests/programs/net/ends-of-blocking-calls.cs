// io: each
// How blocking calls on sockets end: by a timeout, by Close and Shutdown of another thread, by the peer, and not at all where the socket does not wait;
// also on sockets on which asynchronous calls have been made before.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static string Try(Func<object> action)
    {
        try { return action()?.ToString() ?? "null"; }
        catch (SocketException e) { return e.SocketErrorCode.ToString(); }
        catch (IOException e) { return "IOException of " + (e.InnerException as SocketException)?.SocketErrorCode; }
        catch (ObjectDisposedException) { return "disposed"; }
        catch (OperationCanceledException) { return "cancelled"; }
    }

    static void Say(string what, Func<object> action) => Console.WriteLine($"{what}: {Try(action)}");

    static Socket Listen(int backlog = 16)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(backlog);
        return listener;
    }

    static (Socket, Socket) Pair()
    {
        using Socket listener = Listen();
        var one = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        one.Connect(listener.LocalEndPoint);
        return (one, listener.Accept());
    }

    // Peers that nobody closes: the finalizer of a socket that is not reachable resets its connection.
    static readonly List<Socket> peers = new();

    static Socket Connected()
    {
        var (one, other) = Pair();
        peers.Add(other);
        return one;
    }

    static Socket Datagrams()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        return socket;
    }

    // A call that had not begun when the socket was closed says "disposed", and is made again.
    static void Closed(string what, Func<Socket> make, Func<Socket, object> action, Action<Socket> end = null)
    {
        string result = "disposed";
        for (int delay = 20; result == "disposed" && delay < 2000; delay *= 2)
        {
            Socket socket = make();
            var thread = new Thread(() => result = Try(() => action(socket)));
            thread.Start();
            Thread.Sleep(delay);
            (end ?? (s => s.Close()))(socket);
            thread.Join();
            socket.Dispose();
        }
        Console.WriteLine($"{what}: {result}");
    }

    static void Timeouts()
    {
        var (one, other) = Pair();
        one.ReceiveTimeout = one.SendTimeout = 60;
        var began = Environment.TickCount64;
        Say("receive", () => one.Receive(new byte[4]));
        Console.WriteLine(Environment.TickCount64 - began >= 50);
        Say("peek", () => one.Receive(new byte[4], SocketFlags.Peek));
        Say("pieces", () => one.Receive(new List<ArraySegment<byte>> { new(new byte[2]), new(new byte[2]) }));
        Say("stream", () => new NetworkStream(one).Read(new byte[4], 0, 4));
        Say("fill", () => { while (true) one.Send(new byte[1 << 16]); });
        other.Send(new byte[] { 1, 2, 3 });
        Say("still there", () => one.Receive(new byte[4]));
        Say("nothing left", () => one.Receive(new byte[4]));
        other.Close();
        one.Close();
        using Socket datagrams = Datagrams();
        datagrams.ReceiveTimeout = 60;
        EndPoint from = new IPEndPoint(IPAddress.Any, 0);
        Say("datagram", () => datagrams.Receive(new byte[4]));
        Say("datagram from", () => datagrams.ReceiveFrom(new byte[4], ref from));
        datagrams.SendTo(new byte[] { 5 }, datagrams.LocalEndPoint);
        Say("datagram to itself", () => datagrams.ReceiveFrom(new byte[4], ref from));
        Console.WriteLine(from.Equals(datagrams.LocalEndPoint));
    }

    static void Closes()
    {
        Closed("receiving", () => Connected(), s => s.Receive(new byte[4]));
        Closed("receiving pieces", () => Connected(), s => s.Receive(new List<ArraySegment<byte>> { new(new byte[2]), new(new byte[2]) }));
        Closed("sending", () => Connected(), s => { while (true) s.Send(new byte[1 << 16]); });
        Closed("accepting", () => Listen(), s => s.Accept());
        Closed("datagrams", Datagrams, s => s.Receive(new byte[4]));
        Closed("polling", () => Connected(), s => s.Poll(5_000_000, SelectMode.SelectRead));
        Closed("own shutdown", () => Connected(), s => s.Receive(new byte[4]), s => s.Shutdown(SocketShutdown.Both));
        // The listener's queue is full, and nobody accepts.
        using Socket full = Listen(0);
        var waiting = new List<Socket>();
        for (int i = 0; i < 4; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { Blocking = false };
            Try(() => { socket.Connect(full.LocalEndPoint); return null; });
            waiting.Add(socket);
        }
        Closed("connecting", () => new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp), s => { s.Connect(full.LocalEndPoint); return "connected"; });
        waiting.ForEach(socket => socket.Dispose());
        Say("nobody listens", () =>
        {
            EndPoint address;
            using (Socket listener = Listen()) address = listener.LocalEndPoint;
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(address);
            return "connected";
        });
    }

    static void Peer()
    {
        var (one, other) = Pair();
        var end = Task.Run(() => Try(() => one.Receive(new byte[4])));
        Thread.Sleep(30);
        other.Shutdown(SocketShutdown.Send);
        Console.WriteLine("peer's end: " + end.Result);
        Say("after the end", () => one.Receive(new byte[4]));
        other.Dispose();
        one.Dispose();
        (one, other) = Pair();
        end = Task.Run(() => Try(() => one.Receive(new byte[4])));
        Thread.Sleep(30);
        other.LingerState = new LingerOption(true, 0);
        other.Close();
        Console.WriteLine("peer's reset: " + end.Result);
        one.Dispose();
    }

    static void DoesNotWait()
    {
        var (one, other) = Pair();
        Console.WriteLine(one.Blocking);
        one.Blocking = false;
        Say("no waiting", () => one.Receive(new byte[4]));
        one.Blocking = true;
        Task.Delay(30).ContinueWith(_ => other.Send(new byte[] { 7 }));
        Say("waiting again", () => one.Receive(new byte[4]));
        one.ReceiveTimeout = 60;
        Say("with a timeout", () => one.Receive(new byte[4]));
        using Socket listener = Listen();
        listener.Blocking = false;
        Say("no accepting", () => listener.Accept());
        listener.Blocking = true;
        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        Task.Delay(30).ContinueWith(_ => client.Connect(listener.LocalEndPoint));
        Say("accepting again", () => listener.Accept().Connected);
        other.Dispose();
        one.Dispose();
    }

    // An asynchronous call makes the descriptor non-blocking; blocking calls wait by the class library's queues from then on.
    static void Mixed()
    {
        var (one, other) = Pair();
        using Socket listener = Listen();
        var cancel = new CancellationTokenSource(60);
        Say("cancelled", () => one.ReceiveAsync(new byte[4], cancel.Token).AsTask().GetAwaiter().GetResult());
        Task.Delay(30).ContinueWith(_ => other.Send(new byte[] { 1, 2 }));
        Say("blocking after that", () => one.Receive(new byte[4]));
        one.ReceiveTimeout = 60;
        Say("timeout after that", () => one.Receive(new byte[4]));
        // Either of the two gets the first byte. The second one follows when that has been read: together the two may go to one call.
        Task<int> blocked = Task.Run(() => other.Receive(new byte[4]));
        Thread.Sleep(30);
        Task<int> second = other.ReceiveAsync(new byte[4]);
        one.Send(new byte[] { 1 });
        Task.WaitAny(blocked, second);
        one.Send(new byte[] { 1 });
        Console.WriteLine("asynchronous beside blocking: " + (blocked.Result + second.Result));
        Task<Socket> accepted = listener.AcceptAsync();
        using (var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            client.Connect(listener.LocalEndPoint);
            Console.WriteLine(accepted.Result.RemoteEndPoint.Equals(client.LocalEndPoint));
        }
        using (var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            Task.Delay(30).ContinueWith(_ => client.Connect(listener.LocalEndPoint));
            Say("accepting after that", () => listener.Accept().Connected);
        }
        Task<int> receiving = one.ReceiveAsync(new byte[4]);
        Thread.Sleep(30);
        one.Dispose();
        Say("closed", () => receiving.GetAwaiter().GetResult());
        other.Dispose();
    }

    static void PollAndSelect()
    {
        var (one, other) = Pair();
        Console.WriteLine($"{one.Poll(0, SelectMode.SelectRead)} {one.Poll(50_000, SelectMode.SelectRead)} {one.Poll(50_000, SelectMode.SelectWrite)}");
        Task.Delay(30).ContinueWith(_ => other.Send(new byte[] { 7 }));
        Console.WriteLine(one.Poll(5_000_000, SelectMode.SelectRead));
        List<Socket> read = new() { one, other }, write = new() { one }, error = new() { one };
        Socket.Select(read, write, error, 1_000_000);
        Console.WriteLine($"{read.Count} {write.Count} {error.Count}");
        one.Receive(new byte[4]);
        read = new() { one, other };
        Socket.Select(read, null, null, 60_000);
        Console.WriteLine(read.Count);
        Task.Delay(30).ContinueWith(_ => one.Close());
        read = new() { other };
        Socket.Select(read, null, null, 5_000_000);
        Console.WriteLine(read.Count);
        other.Dispose();
    }

    static void FilesAndUnixSockets()
    {
        string name = Path.GetTempFileName();
        File.WriteAllBytes(name, Enumerable.Range(0, 3_000_000).Select(i => (byte)(i % 251)).ToArray());
        var (one, other) = Pair();
        var sender = new Thread(() => { one.SendFile(name, Encoding.ASCII.GetBytes("before"), Encoding.ASCII.GetBytes("after"), TransmitFileOptions.UseDefaultWorkerThread); one.Close(); });
        sender.Start();
        long sum = 0, length = 0;
        var buffer = new byte[60_000];
        for (int count; (count = other.Receive(buffer)) > 0; length += count)
            for (int i = 0; i < count; i++)
                sum += buffer[i] * (1 + (length + i) % 3);
        sender.Join();
        Console.WriteLine($"{length} {sum}");
        other.Dispose();
        File.Delete(name);
        using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(name));
        listener.Listen(1);
        int connected = 0;
        // More than the queue holds.
        var clients = Enumerable.Range(0, 8).Select(i => new Thread(() =>
        {
            using var client = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            client.Connect(new UnixDomainSocketEndPoint(name));
            client.Send(new byte[] { (byte)i });
            Interlocked.Increment(ref connected);
            client.Receive(new byte[1]);
        })).ToList();
        clients.ForEach(client => client.Start());
        Thread.Sleep(50);
        int total = 0;
        var accepted = new List<Socket>();
        for (int i = 0; i < 8; i++)
        {
            Socket server = listener.Accept();
            var one_byte = new byte[1];
            server.Receive(one_byte);
            total += one_byte[0];
            accepted.Add(server);
        }
        accepted.ForEach(server => server.Dispose());
        clients.ForEach(client => client.Join());
        Console.WriteLine($"{connected} {total}");
        File.Delete(name);
    }

    static void Names()
    {
        Console.WriteLine(Dns.GetHostAddresses("localhost").Any(IPAddress.IsLoopback));
        Console.WriteLine(Dns.GetHostAddressesAsync("localhost").Result.Any(IPAddress.IsLoopback));
        Console.WriteLine(Dns.GetHostEntry(IPAddress.Loopback).AddressList.Length > 0);
        var many = Enumerable.Range(0, 20).Select(i => Task.Run(() => Dns.GetHostEntry("localhost").AddressList.Any(IPAddress.IsLoopback))).ToArray();
        Task.WaitAll(many);
        Console.WriteLine(many.All(task => task.Result));
        Say("no such name", () => Dns.GetHostAddresses("no-such-host.invalid").Length > 0 ? "" : "none");
    }

    static void Main()
    {
        Timeouts();
        Closes();
        Peer();
        DoesNotWait();
        Mixed();
        PollAndSelect();
        FilesAndUnixSockets();
        Names();
    }
}
