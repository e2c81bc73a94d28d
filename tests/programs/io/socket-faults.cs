// io: each
// What a peer on the loopback interface can do to a thread that waits for it: reset the connection in every state, stall, half close, read slowly, send one byte
// at a time, and take less than was sent.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class SocketFaults
{
    // Long enough for the other thread to be in its call, as a rule; the outcome is the same if it is not yet.
    const int Moment = 30;

    static void Main()
    {
        Resets();
        Stall();
        HalfClose();
        SlowReader();
        OneByteAtATime();
        PartialWrites();
    }

    static Socket Listen(out EndPoint address)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(16);
        address = listener.LocalEndPoint;
        return listener;
    }

    static void Pair(out Socket one, out Socket other)
    {
        EndPoint address;
        using (var listener = Listen(out address))
        {
            one = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            one.Connect(address);
            other = listener.Accept();
        }
    }

    static void Reset(Socket socket)
    {
        socket.LingerState = new LingerOption(true, 0);
        socket.Close();
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
    }

    // The outcome of `wait`, in a thread of its own, when the peer resets the connection meanwhile.
    static void WhileWaiting(string what, Action<Socket> prepare, Action<Socket> wait)
    {
        Socket one, other;
        Pair(out one, out other);
        prepare(one);
        string error = null;
        var thread = new Thread(() => error = ErrorOf(() => wait(one)));
        thread.Start();
        Thread.Sleep(Moment);
        Reset(other);
        bool ended = thread.Join(10000);
        Console.WriteLine("reset while " + what + ": " + (ended ? error : "still waiting"));
        one.Close();
    }

    // Mono's class library tries again and again to send an array where a list of pieces fails at once.
    static void Fill(Socket socket)
    {
        var pieces = new List<ArraySegment<byte>> { new ArraySegment<byte>(new byte[1 << 16]) };
        socket.Blocking = false;
        ErrorOf(() => { for (;;) socket.Send(pieces); });
        socket.Blocking = true;
    }

    static void Resets()
    {
        WhileWaiting("receiving", s => { }, s => s.Receive(new byte[1]));
        WhileWaiting("receiving into pieces", s => { }, s => s.Receive(new List<ArraySegment<byte>> { new ArraySegment<byte>(new byte[1]) }));
        WhileWaiting("sending", Fill, s => s.Send(new byte[1 << 20]));
        WhileWaiting("receiving after a half close", s => s.Shutdown(SocketShutdown.Send), s => s.Receive(new byte[1]));
        WhileWaiting("polling", s => { }, s =>
        {
            Console.Write(s.Poll(-1, SelectMode.SelectRead) + " ");
            s.Receive(new byte[1]);
        });
        WhileWaiting("selecting", s => { }, s =>
        {
            var list = new List<Socket> { s };
            Socket.Select(list, null, null, 10000000);
            Console.Write(list.Count + " ");
            s.Receive(new byte[1]);
        });
        WhileWaiting("an asynchronous receive", s => { }, s => s.EndReceive(s.BeginReceive(new byte[1], 0, 1, SocketFlags.None, null, null)));
        WhileWaiting("an asynchronous send", Fill, s => s.EndSend(s.BeginSend(new byte[1 << 20], 0, 1 << 20, SocketFlags.None, null, null)));

        // Before it was accepted.
        EndPoint address;
        using (var listener = Listen(out address))
        {
            var early = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            early.Connect(address);
            Reset(early);
            using (var accepted = listener.Accept())
                Console.WriteLine("reset before it was accepted: " + ErrorOf(() => accepted.Receive(new byte[1])));
        }

        // After its half close: first the end of what it sent, then the error.
        Socket one, other;
        Pair(out one, out other);
        other.Send(new byte[3]);
        other.Shutdown(SocketShutdown.Send);
        int count = 0, got;
        while ((got = one.Receive(new byte[2])) > 0)
            count += got;
        Reset(other);
        string error = "none";
        for (int i = 0; i < 1000 && error == "none"; i++)
        {
            error = ErrorOf(() => one.Send(new byte[1]));
            Thread.Sleep(1);
        }
        Console.WriteLine("reset after its half close: " + count + " bytes, then an error: " + (error != "none"));
        one.Close();

        // With data that nobody read.
        Pair(out one, out other);
        one.Send(new byte[100]);
        other.Poll(-1, SelectMode.SelectRead);
        other.Close();
        Console.WriteLine("closed with data unread: " + ErrorOf(() => one.Receive(new byte[1])));
        one.Close();
    }

    static void Stall()
    {
        Socket one, other;
        Pair(out one, out other);
        one.ReceiveTimeout = 60;
        other.Send(new byte[] { 1, 2, 3 });
        var buffer = new byte[8];
        int got = 0;
        string error = ErrorOf(() => { while (got < 8) got += one.Receive(buffer, got, 8 - got, SocketFlags.None); });
        // A receive that times out tells the rest that it would block.
        Console.WriteLine("stalled: " + got + " " + (error != "none"));
        other.Send(new byte[] { 4, 5, 6, 7, 8 });
        one.ReceiveTimeout = 0;
        while (got < 8)
            got += one.Receive(buffer, got, 8 - got, SocketFlags.None);
        Console.WriteLine("went on: " + string.Join(" ", buffer));
        one.SendTimeout = 60;
        Fill(one);
        Console.WriteLine("stalled reader: " + ErrorOf(() => one.Send(new byte[1 << 20])));
        one.Close();
        other.Close();
    }

    static byte[] Data(int length)
    {
        var data = new byte[length];
        new Random(7).NextBytes(data);
        return data;
    }

    static byte[] ReadToEnd(Socket socket, int pieceLength, Action<int> afterPiece)
    {
        var all = new System.IO.MemoryStream();
        var piece = new byte[pieceLength];
        int got;
        while ((got = socket.Receive(piece)) > 0)
        {
            all.Write(piece, 0, got);
            afterPiece((int)all.Length);
        }
        return all.ToArray();
    }

    static void HalfClose()
    {
        Socket one, other;
        Pair(out one, out other);
        var request = Data(300000);
        var server = new Thread(() =>
        {
            var heard = ReadToEnd(other, 10000, count => { });
            Array.Reverse(heard);
            other.Send(heard);
            other.Close();
        });
        server.Start();
        one.Send(request);
        one.Shutdown(SocketShutdown.Send);
        var answer = ReadToEnd(one, 10000, count => { });
        server.Join();
        Console.WriteLine("after a half close: " + answer.Length + " " + answer.Reverse().SequenceEqual(request));
        one.Close();
    }

    static void SlowReader()
    {
        Socket one, other;
        Pair(out one, out other);
        one.SendBufferSize = 8192;
        var data = Data(300000);
        byte[] read = null;
        var reader = new Thread(() =>
        {
            int pause = 0;
            Thread.Sleep(Moment);
            read = ReadToEnd(other, 8192, count => { if (count >> 16 > pause) { pause = count >> 16; Thread.Sleep(5); } });
        });
        reader.Start();
        int sent = one.Send(data);
        one.Close();
        reader.Join();
        Console.WriteLine("slow reader: " + sent + " " + read.SequenceEqual(data));
        other.Close();
    }

    static void OneByteAtATime()
    {
        Socket one, other;
        Pair(out one, out other);
        one.NoDelay = true;
        var data = Data(300);
        var writer = new Thread(() =>
        {
            foreach (byte b in data)
            {
                one.Send(new[] { b });
                if (b < 16)
                    Thread.Sleep(1);
            }
            one.Close();
        });
        writer.Start();
        Console.WriteLine("one byte at a time: " + ReadToEnd(other, 64, count => { }).SequenceEqual(data));
        writer.Join();
        other.Close();
    }

    // A socket that does not wait takes what it has room for; Poll tells when there is more.
    static void PartialWrites()
    {
        Socket one, other;
        Pair(out one, out other);
        one.Blocking = false;
        var data = Data(8 << 20);
        byte[] read = null;
        var reader = new Thread(() => { Thread.Sleep(Moment); read = ReadToEnd(other, 1 << 16, count => { }); });
        reader.Start();
        int sent = 0, wouldBlock = 0, partial = 0;
        while (sent < data.Length)
        {
            try
            {
                int count = one.Send(new List<ArraySegment<byte>> { new ArraySegment<byte>(data, sent, data.Length - sent) });
                sent += count;
                if (sent < data.Length)
                    partial++;
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.WouldBlock)
            {
                wouldBlock++;
                one.Poll(-1, SelectMode.SelectWrite);
            }
        }
        one.Close();
        reader.Join();
        Console.WriteLine("partial writes: " + (partial > 0) + " " + (wouldBlock > 0) + " " + read.SequenceEqual(data));
        other.Close();
    }
}
