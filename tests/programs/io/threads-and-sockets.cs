// io: each
// Blocking sockets with a thread for each connection: data both ways, timeouts, endings by close, abort and refusal, and waits for several sockets.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class ThreadsAndSockets
{
    const int Clients = 60, Messages = 15;

    static void Main()
    {
        Echo();
        Large();
        Timeouts();
        ClosedByOther();
#if !NET
        Aborted();
#endif
        Refused();
        Several();
    }

    static Socket Listen(out EndPoint address)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(128);
        address = listener.LocalEndPoint;
        return listener;
    }

    static Socket Connect(EndPoint address)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(address);
        return socket;
    }

    static void Pair(out Socket one, out Socket other)
    {
        EndPoint address;
        using (var listener = Listen(out address))
        {
            one = Connect(address);
            other = listener.Accept();
        }
    }

    static void ReceiveAll(Socket socket, byte[] buffer)
    {
        for (int got = 0; got < buffer.Length; )
        {
            int count = socket.Receive(buffer, got, buffer.Length - got, SocketFlags.None);
            if (count == 0)
                throw new Exception("the end came early");
            got += count;
        }
    }

    static void Echo()
    {
        EndPoint address;
        var listener = Listen(out address);
        var server = new Thread(() =>
        {
            for (int i = 0; i < Clients; i++)
            {
                var connection = listener.Accept();
                new Thread(() => Serve(connection)).Start();
            }
        });
        server.Start();
        int right = 0;
        var clients = Enumerable.Range(0, Clients).Select(number => new Thread(() =>
        {
            using (var socket = Connect(address))
            {
                var answer = new byte[40];
                for (int i = 0; i < Messages; i++)
                {
                    var message = Enumerable.Range(number + i, answer.Length).Select(n => (byte)n).ToArray();
                    socket.Send(message);
                    ReceiveAll(socket, answer);
                    if (message.SequenceEqual(answer))
                        Interlocked.Increment(ref right);
                }
            }
        })).ToList();
        clients.ForEach(client => client.Start());
        clients.ForEach(client => client.Join());
        server.Join();
        listener.Close();
        Console.WriteLine("echo: " + right);
    }

    static void Serve(Socket connection)
    {
        using (connection)
        {
            var buffer = new byte[64];
            int count;
            while ((count = connection.Receive(buffer)) > 0)
                connection.Send(buffer, count, SocketFlags.None);
        }
    }

    // More than any buffer of the system holds, in one call and as a list of pieces.
    static void Large()
    {
        Socket one, other;
        Pair(out one, out other);
        var data = new byte[8 << 20];
        new Random(5).NextBytes(data);
        var received = new byte[2 * data.Length];
        var reader = new Thread(() => { Thread.Sleep(30); ReceiveAll(other, received); });
        reader.Start();
        Console.WriteLine("sent: " + one.Send(data));
        var pieces = new List<ArraySegment<byte>>();
        for (int i = 0; i < 8; i++)
            pieces.Add(new ArraySegment<byte>(data, i << 20, 1 << 20));
        Console.WriteLine("sent in pieces: " + one.Send(pieces));
        reader.Join();
        Console.WriteLine("same: " + (data.SequenceEqual(received.Take(data.Length)) && data.SequenceEqual(received.Skip(data.Length))));
        one.Close();
        other.Close();
    }

    static void Timeouts()
    {
        Socket one, other;
        Pair(out one, out other);
        one.ReceiveTimeout = 60;
        Console.WriteLine("receive: " + ErrorOf(() => one.Receive(new byte[1])));
        one.SendTimeout = 60;
        Console.WriteLine("send: " + ErrorOf(() => { for (;;) one.Send(new byte[1 << 20]); }));
        Console.WriteLine("poll: " + other.Poll(-1, SelectMode.SelectRead) + " " + one.Poll(20000, SelectMode.SelectRead));
        one.Close();
        other.Close();
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
    }

    // Whoever waits in a call of a socket that another thread closes goes on.
    static void ClosedByOther()
    {
        Socket one, other;
        Pair(out one, out other);
        EndPoint address;
        var listener = Listen(out address);
        var ended = new List<string>();
        Action<string, Action> expect = (what, action) =>
        {
            string error = ErrorOf(action);
            lock (ended)
                ended.Add(what + (error == "none" ? " went on" : " ended"));
        };
        var threads = new[]
        {
            new Thread(() => expect("receive", () => one.Receive(new byte[1]))),
            new Thread(() => expect("accept", () => listener.Accept())),
        };
        foreach (var thread in threads)
            thread.Start();
        Thread.Sleep(100);
        one.Close();
        listener.Close();
        foreach (var thread in threads)
            Console.Write(thread.Join(10000) ? "" : "still waiting; ");
        Console.WriteLine(string.Join(", ", ended.OrderBy(text => text)));
        other.Close();
    }

    static void Aborted()
    {
        Socket one, other;
        Pair(out one, out other);
        string outcome = "none";
        bool isInside = false;
        var thread = new Thread(() =>
        {
            try
            {
                Volatile.Write(ref isInside, true);
                one.Receive(new byte[1]);
            }
            catch (ThreadAbortException)
            {
                outcome = "abort";
            }
        });
        thread.Start();
        while (!Volatile.Read(ref isInside))
            Thread.Sleep(1);
        Thread.Sleep(50);
        thread.Abort();
        Console.WriteLine("aborted: " + thread.Join(10000) + " " + outcome);
        other.Send(new byte[] { 42 });
        var buffer = new byte[1];
        Console.WriteLine("then: " + one.Receive(buffer) + " " + buffer[0]);
        one.Close();
        other.Close();
    }

    static void Refused()
    {
        EndPoint address;
        Listen(out address).Close();
        Console.WriteLine("connect: " + ErrorOf(() => Connect(address).Close()));
    }

    static void Several()
    {
        var ones = new Socket[5];
        var others = new Socket[5];
        for (int i = 0; i < 5; i++)
            Pair(out ones[i], out others[i]);
        var writer = new Thread(() => { Thread.Sleep(50); others[3].Send(new byte[1]); });
        writer.Start();
        var ready = ones.ToList();
        Socket.Select(ready, null, null, 10000000);
        Console.WriteLine("ready: " + ready.Count + " " + (ready[0] == ones[3]));
        writer.Join();
        ready = ones.Take(3).ToList();
        Socket.Select(ready, null, null, 20000);
        Console.WriteLine("ready: " + ready.Count);
        foreach (var socket in ones.Concat(others))
            socket.Close();
    }
}
