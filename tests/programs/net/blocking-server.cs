// io: each
// A server with a thread for each of 200 connections, in plain blocking code. All connections wait at the same time; with threads that park
// they hold no thread of the system.
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class Program
{
    const int Connections = 200, Rounds = 5, Length = 3000;

    static readonly CountdownEvent waiting = new(Connections);
    static readonly ManualResetEventSlim go = new();
    static long sum;
    static int failed;

    static int Main()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(Connections);
        EndPoint address = listener.LocalEndPoint;
        var server = new Thread(() =>
        {
            for (int i = 0; i < Connections; i++)
            {
                Socket connection = listener.Accept();
                new Thread(() => Serve(connection), 128 << 10).Start();
            }
        });
        server.Start();
        var clients = Enumerable.Range(0, Connections).Select(i => new Thread(() => Client(i, address), 128 << 10)).ToList();
        clients.ForEach(client => client.Start());
        waiting.Wait();
        // All servers receive, or soon will.
        Thread.Sleep(50);
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        go.Set();
        clients.ForEach(client => client.Join());
        server.Join();
        listener.Close();
        bool parks = (Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native") != "native" && Environment.GetEnvironmentVariable("SAKI_IO") != "blocking";
        // There may be a carrier for each processor, and one more for each call that the system has interrupted at a bad time.
        if (parks && threads > 116 + 2 * Environment.ProcessorCount)
        {
            Console.WriteLine(threads + " threads of the system");
            return 1;
        }
        Console.WriteLine($"{sum} {failed}");
        return 0;
    }

    static void Serve(Socket connection)
    {
        var buffer = new byte[1024];
        using (connection)
        {
            int count;
            while ((count = connection.Receive(buffer)) > 0)
                connection.Send(buffer, count, SocketFlags.None);
        }
    }

    static void Client(int number, EndPoint address)
    {
        try
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            socket.Connect(address);
            waiting.Signal();
            go.Wait();
            var sent = new byte[Length];
            var received = new byte[Length];
            for (int round = 0; round < Rounds; round++)
            {
                for (int i = 0; i < Length; i++)
                    sent[i] = (byte)(number * 7 + round * 31 + i);
                socket.Send(sent);
                for (int got = 0; got < Length;)
                {
                    int count = socket.Receive(received, got, Length - got, SocketFlags.None);
                    if (count == 0)
                        throw new IOException("the server has ended");
                    got += count;
                }
                if (!sent.AsSpan().SequenceEqual(received))
                    throw new IOException("other bytes");
                Interlocked.Add(ref sum, received.Sum(b => (long)b));
            }
            socket.Shutdown(SocketShutdown.Send);
            if (socket.Receive(received) != 0)
                throw new IOException("more bytes");
        }
        catch (Exception e)
        {
            Console.Error.WriteLine(e);
            Interlocked.Increment(ref failed);
        }
    }
}
