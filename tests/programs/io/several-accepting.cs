// io: each
// Several threads accept connections from one listener, and others find connections reset: each connection is accepted once, and no thread is told of another one's failure.
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class SeveralAccepting
{
    const int Acceptors = 4, Clients = 24, Connections = 60;

    static int accepted, reset, failed;

    static void Serve(Socket socket)
    {
        try
        {
            while (socket.Receive(new byte[100]) > 0) { }
        }
        catch (SocketException e)
        {
            if (e.SocketErrorCode == SocketError.ConnectionReset)
                Interlocked.Increment(ref reset);
        }
        socket.Close();
    }

    static void Accept(TcpListener listener)
    {
        while (true)
        {
            try
            {
                Socket socket = listener.AcceptSocket();
                Interlocked.Increment(ref accepted);
                new Thread(() => Serve(socket)) { IsBackground = true }.Start();
            }
            catch (SocketException e)
            {
                Interlocked.Increment(ref failed);
                Console.WriteLine("accepting: " + e.SocketErrorCode);
            }
        }
    }

    static void Connect(EndPoint server)
    {
        for (int i = 0; i < Connections; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(server);
            socket.Send(new byte[10]);
            // The peer finds a reset instead of the end.
            socket.LingerState = new LingerOption(true, 0);
            Thread.Yield();
            socket.Close();
        }
    }

    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        // With less room in the queue the system drops connections that their clients hold for made.
        listener.Start(Clients * Connections);
        for (int i = 0; i < Acceptors; i++)
            new Thread(() => Accept(listener)) { IsBackground = true }.Start();
        var clients = new Thread[Clients];
        for (int i = 0; i < Clients; i++)
        {
            clients[i] = new Thread(() => Connect(listener.LocalEndpoint));
            clients[i].Start();
        }
        foreach (var client in clients)
            client.Join();
        // What waits in the queue is accepted soon.
        for (int i = 0; i < 1000 && Volatile.Read(ref accepted) < Clients * Connections; i++)
            Thread.Sleep(10);
        Console.WriteLine("accepted: " + accepted + ", failed: " + failed + ", resets found: " + (reset > 0));
    }
}
