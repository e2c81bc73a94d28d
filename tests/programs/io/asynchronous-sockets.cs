// io: each
// Asynchronous sockets: Begin and End, SocketAsyncEventArgs, tasks with async and await, streams and listeners, and what ends an operation that is under way. However many
// operations wait, there are no more threads of the system than a few.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

class AsynchronousSockets
{
    const int Limit = 10000;

    static void Main()
    {
        BeginAndEnd();
        EventArgs();
        Tasks().Wait();
        Datagrams().Wait();
        Queued();
        Parts();
        Ends();
        Cancelled().Wait();
        ManyWait();
    }

    static Socket Listen(out EndPoint address)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(512);
        address = listener.LocalEndPoint;
        return listener;
    }

    static Socket NewSocket()
    {
        return new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    }

    static void Pair(out Socket one, out Socket other)
    {
        EndPoint address;
        using (var listener = Listen(out address))
        {
            one = NewSocket();
            one.Connect(address);
            other = listener.Accept();
        }
    }

    static string ErrorOf(Action action)
    {
        try
        {
            action();
            return "none";
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode.ToString();
        }
        catch (ObjectDisposedException)
        {
            return "disposed";
        }
        catch (AggregateException e)
        {
            return e.InnerException.GetType().Name;
        }
    }

    // A server of callbacks alone.
    static void BeginAndEnd()
    {
        EndPoint address;
        var listener = Listen(out address);
        AsyncCallback accepted = null;
        accepted = begun =>
        {
            Socket connection;
            try
            {
                connection = listener.EndAccept(begun);
                listener.BeginAccept(accepted, null);
            }
            catch (Exception e) when (e is ObjectDisposedException || e is SocketException)
            {
                // Closed; on .NET with OperationAborted.
                return;
            }
            var buffer = new byte[100];
            AsyncCallback received = null;
            received = got =>
            {
                int count = connection.EndReceive(got);
                if (count == 0)
                {
                    connection.Close();
                    return;
                }
                connection.BeginSend(buffer, 0, count, SocketFlags.None, sent =>
                {
                    connection.EndSend(sent);
                    connection.BeginReceive(buffer, 0, buffer.Length, SocketFlags.None, received, null);
                }, null);
            };
            connection.BeginReceive(buffer, 0, buffer.Length, SocketFlags.None, received, null);
        };
        listener.BeginAccept(accepted, null);
        int right = 0;
        for (int i = 0; i < 20; i++)
        {
            using (var socket = NewSocket())
            {
                socket.EndConnect(socket.BeginConnect(address, null, null));
                var text = new byte[] { 1, (byte)i, 3 };
                socket.Send(text);
                var answer = new byte[3];
                int got = 0;
                while (got < 3)
                    got += socket.EndReceive(socket.BeginReceive(answer, got, 3 - got, SocketFlags.None, null, null));
                if (answer.SequenceEqual(text))
                    right++;
            }
        }
        listener.Close();
        Console.WriteLine("begin and end: " + right);
    }

    static SocketAsyncEventArgs Wait(Func<SocketAsyncEventArgs, bool> start, Action<SocketAsyncEventArgs> prepare)
    {
        var args = new SocketAsyncEventArgs();
        var done = new ManualResetEvent(false);
        args.Completed += (sender, e) => done.Set();
        prepare(args);
        if (start(args) && !done.WaitOne(Limit))
            Console.Write("not completed; ");
        return args;
    }

    static void EventArgs()
    {
        EndPoint address;
        var listener = Listen(out address);
        var client = NewSocket();
        var connected = Wait(client.ConnectAsync, e => e.RemoteEndPoint = address);
        var accepted = Wait(listener.AcceptAsync, e => { });
        var server = accepted.AcceptSocket;
        Console.WriteLine("event args: " + connected.SocketError + " " + connected.LastOperation + " " + accepted.SocketError + " " + accepted.LastOperation);
        var sent = Wait(client.SendAsync, e => e.SetBuffer(new byte[] { 5, 6, 7, 8 }, 1, 3));
        var received = Wait(server.ReceiveAsync, e => e.SetBuffer(new byte[10], 4, 6));
        Console.WriteLine(sent.BytesTransferred + " " + received.BytesTransferred + ": " + string.Join(" ", received.Buffer));
        var pieces = Wait(client.SendAsync, e => e.BufferList = new[] { new ArraySegment<byte>(new byte[] { 1, 2 }), new ArraySegment<byte>(new byte[] { 3 }) });
        received = Wait(server.ReceiveAsync, e => e.SetBuffer(new byte[3], 0, 3));
        Console.WriteLine(pieces.BytesTransferred + " " + received.BytesTransferred + ": " + string.Join(" ", received.Buffer));
        client.LingerState = new LingerOption(true, 0);
        ThreadPool.QueueUserWorkItem(o => { Thread.Sleep(20); client.Close(); });
        received = Wait(server.ReceiveAsync, e => e.SetBuffer(new byte[3], 0, 3));
        Console.WriteLine("reset: " + received.SocketError + " " + received.BytesTransferred);
        server.Close();
        listener.Close();
        var refused = Wait(NewSocket().ConnectAsync, e => e.RemoteEndPoint = address);
        Console.WriteLine("refused: " + refused.SocketError);
    }

    static async Task Serve(TcpListener listener)
    {
        var connections = new List<Task>();
        try
        {
            for (;;)
            {
                var client = await listener.AcceptTcpClientAsync();
                connections.Add(Echo(client));
            }
        }
        catch (Exception e) when (e is ObjectDisposedException || e is SocketException)
        {
        }
        await Task.WhenAll(connections);
    }

    static async Task Echo(TcpClient client)
    {
        using (client)
        {
            var stream = client.GetStream();
            var buffer = new byte[256];
            int count;
            while ((count = await stream.ReadAsync(buffer, 0, buffer.Length)) > 0)
                await stream.WriteAsync(buffer, 0, count);
        }
    }

    static async Task<int> Ask(int port, int number)
    {
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPAddress.Loopback, port);
            var reader = new StreamReader(client.GetStream());
            var writer = new StreamWriter(client.GetStream()) { AutoFlush = true };
            int right = 0;
            for (int i = 0; i < 5; i++)
            {
                string line = "line " + i + " of " + number;
                await writer.WriteLineAsync(line);
                if (await reader.ReadLineAsync() == line)
                    right++;
            }
            return right;
        }
    }

    static async Task Tasks()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        var serving = Serve(listener);
        var answers = await Task.WhenAll(Enumerable.Range(0, 50).Select(i => Ask(port, i)));
        listener.Stop();
        await serving;
        Console.WriteLine("tasks: " + answers.Sum());
    }

    static async Task Datagrams()
    {
        using (var one = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0)))
        using (var other = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0)))
        {
            var receiving = one.ReceiveAsync();
            int sent = await other.SendAsync(new byte[] { 1, 2, 3 }, 3, (IPEndPoint)one.Client.LocalEndPoint);
            var received = await receiving;
            Console.WriteLine("datagram: " + sent + " " + string.Join(" ", received.Buffer) + " " + received.RemoteEndPoint.Equals(other.Client.LocalEndPoint));
        }
    }

    // Operations of one socket are completed in their order.
    static void Queued()
    {
        Socket one, other;
        Pair(out one, out other);
        var order = new List<string>();
        var all = new CountdownEvent(20);
        for (int i = 0; i < 10; i++)
        {
            int number = i;
            var buffer = new byte[1];
            one.BeginReceive(buffer, 0, 1, SocketFlags.None, begun =>
            {
                int got = one.EndReceive(begun);
                lock (order)
                    order.Add("" + buffer[0] + (got == 1 && buffer[0] == number ? "" : "?"));
                all.Signal();
            }, null);
        }
        for (int i = 0; i < 10; i++)
            other.BeginSend(new[] { (byte)i }, 0, 1, SocketFlags.None, begun => { other.EndSend(begun); all.Signal(); }, null);
        all.Wait(Limit);
        Console.WriteLine("queued: " + string.Join(" ", order.OrderBy(text => text)));
        one.Close();
        other.Close();
    }

    // What one receive leaves of the data the next one gets, and both directions at once.
    static void Parts()
    {
        Socket one, other;
        Pair(out one, out other);
        other.Send(new byte[] { 1, 2, 3, 4, 5 });
        var buffer = new byte[2];
        string seen = "";
        for (int i = 0; i < 3; i++)
            seen += one.EndReceive(one.BeginReceive(buffer, 0, 2, SocketFlags.None, null, null)) + " ";
        Console.WriteLine("parts: " + seen);
        var data = new byte[3 << 20];
        new Random(3).NextBytes(data);
        var there = Pump(one, other, data);
        var back = Pump(other, one, data);
        Console.WriteLine("both directions: " + there.Result + " " + back.Result);
        one.Close();
        other.Close();
    }

    static async Task<bool> Pump(Socket from, Socket to, byte[] data)
    {
        var sending = from.SendAsync(new ArraySegment<byte>(data), SocketFlags.None);
        var received = new byte[data.Length];
        int got = 0;
        while (got < data.Length)
            got += await to.ReceiveAsync(new ArraySegment<byte>(received, got, data.Length - got), SocketFlags.None);
        return await sending == data.Length && received.SequenceEqual(data);
    }

    static void Ends()
    {
        Socket one, other;
        Pair(out one, out other);
        var receiving = one.BeginReceive(new byte[1], 0, 1, SocketFlags.None, null, null);
        Thread.Sleep(20);
        one.Close();
        Console.WriteLine("closed while receiving: " + receiving.AsyncWaitHandle.WaitOne(Limit) + " " + (ErrorOf(() => one.EndReceive(receiving)) != "none"));
        other.Close();
        EndPoint address;
        var listener = Listen(out address);
        var accepting = listener.BeginAccept(null, null);
        Thread.Sleep(20);
        listener.Close();
        Console.WriteLine("closed while accepting: " + accepting.AsyncWaitHandle.WaitOne(Limit) + " " + (ErrorOf(() => listener.EndAccept(accepting)) != "none"));
        Pair(out one, out other);
        receiving = one.BeginReceive(new byte[1], 0, 1, SocketFlags.None, null, null);
        other.Shutdown(SocketShutdown.Send);
        Console.WriteLine("half closed: " + one.EndReceive(receiving));
        one.Close();
        other.Close();
    }

    // The usual way with a token: it closes what is waited for.
    static async Task Cancelled()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using (var source = new CancellationTokenSource(50))
        using (source.Token.Register(listener.Stop))
        {
            string outcome = "accepted";
            try
            {
                await listener.AcceptTcpClientAsync();
            }
            catch (Exception e) when (e is ObjectDisposedException || e is SocketException || e is InvalidOperationException)
            {
                // The last one if the token was faster.
                outcome = "cancelled";
            }
            Console.WriteLine("token: " + outcome);
        }
    }

    static void ManyWait()
    {
        const int Connections = 300;
        EndPoint address;
        var listener = Listen(out address);
        var clients = new List<Socket>();
        int ended = 0;
        var all = new CountdownEvent(Connections);
        for (int i = 0; i < Connections; i++)
        {
            var client = NewSocket();
            client.Connect(address);
            clients.Add(client);
            var connection = listener.Accept();
            connection.BeginReceive(new byte[1], 0, 1, SocketFlags.None, begun =>
            {
                if (connection.EndReceive(begun) == 1)
                    Interlocked.Increment(ref ended);
                connection.Close();
                all.Signal();
            }, null);
        }
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        // Among them are those of the pool and of the collector, as many as there are processors.
        Console.WriteLine("many wait: " + (threads < 60 + 2 * Environment.ProcessorCount ? "few threads" : threads + " threads"));
        clients.ForEach(client => client.Send(new byte[1]));
        all.Wait(Limit);
        Console.WriteLine("ended: " + ended);
        clients.ForEach(client => client.Close());
        listener.Close();
    }
}
