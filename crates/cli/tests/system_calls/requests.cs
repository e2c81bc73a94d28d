// `requests COUNT`: so many requests and answers over each of 16 connections that stay open, with a thread for each end.
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class Requests
{
    const int Connections = 16;

    static void Answer(Socket socket)
    {
        var bytes = new byte[4096];
        int count;
        while ((count = socket.Receive(bytes)) > 0)
            socket.Send(bytes, count, SocketFlags.None);
    }

    static void Ask(EndPoint server, int requests)
    {
        using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            socket.NoDelay = true;
            socket.Connect(server);
            var bytes = new byte[4096];
            for (int i = 0; i < requests; i++)
            {
                socket.Send(bytes, 100, SocketFlags.None);
                if (socket.Receive(bytes) != 100)
                    throw new Exception("torn");
            }
        }
    }

    static void Main(string[] args)
    {
        int requests = int.Parse(args[0]);
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(Connections);
        var threads = new Thread[Connections];
        for (int i = 0; i < Connections; i++)
        {
            threads[i] = new Thread(() => Ask(listener.LocalEndpoint, requests));
            threads[i].Start();
            var socket = listener.AcceptSocket();
            socket.NoDelay = true;
            new Thread(() => Answer(socket)) { IsBackground = true }.Start();
        }
        foreach (var thread in threads)
            thread.Join();
        Console.WriteLine(requests);
    }
}
