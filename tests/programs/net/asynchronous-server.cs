// io: each
// Asynchronous sockets: 300 connections at a time, of which most wait, cancelled and closed operations, datagrams, and awaits that complete inline. With green
// threads the class library's thread for events is one of them.
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    const int Connections = 300, Rounds = 4, Length = 2000;

    static long sum;

    static async Task<int> Main()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(Connections);
        Task server = Accept(listener);
        var all = new TaskCompletionSource();
        int arrived = 0;
        var clients = Enumerable.Range(0, Connections).Select(i => Client(i, listener.LocalEndPoint, () =>
        {
            if (Interlocked.Increment(ref arrived) == Connections)
                all.SetResult();
            return all.Task;
        })).ToList();
        await Task.WhenAll(clients);
        await server;
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        bool parks = (Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native") != "native" && Environment.GetEnvironmentVariable("SAKI_IO") != "blocking";
        // There may be a carrier for each processor.
        if (parks && threads > 36 + 2 * Environment.ProcessorCount)
        {
            Console.WriteLine(threads + " threads of the system");
            return 1;
        }
        Console.WriteLine(sum);
        await Datagrams();
        await Ends();
        return 0;
    }

    static async Task Accept(Socket listener)
    {
        var servers = new Task[Connections];
        for (int i = 0; i < Connections; i++)
            servers[i] = Serve(await listener.AcceptAsync());
        await Task.WhenAll(servers);
    }

    static async Task Serve(Socket connection)
    {
        using var stream = new NetworkStream(connection, true);
        var buffer = new byte[700];
        int count;
        while ((count = await stream.ReadAsync(buffer)) > 0)
            await stream.WriteAsync(buffer.AsMemory(0, count));
    }

    static async Task Client(int number, EndPoint address, Func<Task> arrive)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await socket.ConnectAsync(address);
        await arrive();
        byte[] sent = new byte[Length], received = new byte[Length];
        for (int round = 0; round < Rounds; round++)
        {
            for (int i = 0; i < Length; i++)
                sent[i] = (byte)(number * 5 + round * 17 + i);
            Task<int> sending = socket.SendAsync(sent);
            for (int got = 0; got < Length;)
            {
                int count = await socket.ReceiveAsync(received.AsMemory(got));
                if (count == 0)
                    throw new IOException("the server has ended");
                got += count;
            }
            if (await sending != Length || !sent.AsSpan().SequenceEqual(received))
                throw new IOException("other bytes");
            Interlocked.Add(ref sum, received.Sum(b => (long)b));
        }
    }

    static async Task Datagrams()
    {
        using var one = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0));
        using var other = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0));
        int total = 0;
        for (int i = 0; i < 50; i++)
        {
            Task<UdpReceiveResult> receiving = one.ReceiveAsync();
            await other.SendAsync(new byte[i], i, (IPEndPoint)one.Client.LocalEndPoint);
            total += (await receiving).Buffer.Length;
        }
        Console.WriteLine(total);
    }

    static async Task Ends()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        using var client = new TcpClient();
        Task<TcpClient> accepting = listener.AcceptTcpClientAsync();
        await client.ConnectAsync((IPEndPoint)listener.LocalEndpoint);
        using TcpClient server = await accepting;
        using var cancel = new CancellationTokenSource(50);
        try { await client.GetStream().ReadAsync(new byte[4], cancel.Token); }
        catch (OperationCanceledException) { Console.WriteLine("cancelled"); }
        ValueTask<int> reading = client.GetStream().ReadAsync(new byte[4]);
        client.Close();
        // The connection's end may come before the operation's.
        Console.WriteLine(await ReadEnd(reading));
        Console.WriteLine(await ReadEnd(server.GetStream().ReadAsync(new byte[4])));
        Task<TcpClient> never = listener.AcceptTcpClientAsync();
        listener.Stop();
        try { await never; }
        catch (SocketException e) { Console.WriteLine(e.SocketErrorCode); }
        catch (ObjectDisposedException) { Console.WriteLine("disposed"); }
    }

    static async Task<string> ReadEnd(ValueTask<int> reading)
    {
        try { return await reading == 0 ? "ended" : "bytes"; }
        catch (IOException) { return "ended"; }
    }
}
