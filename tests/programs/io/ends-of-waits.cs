// io: each
// What ends a wait for a socket: Close by another thread, Abort, timeouts; what does not: Interrupt. And what a server and its clients meet when there are no
// descriptors left, when the queue of a listener is full, and when nobody listens.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;

class EndsOfWaits
{
    const int Moment = 30, Limit = 10000;

    static void Main()
    {
        Endings("closed", (thread, socket) => socket.Close());
#if !NET
        Endings("aborted", (thread, socket) => thread.Abort());
#endif
        ManyAtOnce();
        Interrupted();
        Timeouts();
        FullQueue();
        ConnectThatTakesLong();
        Refused();
#if !NET // which does not survive it
        NoDescriptors();
#endif
    }

    static Socket Listen(int backlog, out EndPoint address)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(backlog);
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
        using (var listener = Listen(16, out address))
        {
            one = NewSocket();
            one.Connect(address);
            other = listener.Accept();
        }
    }

    // Mono's class library tries again and again to send an array where a list of pieces fails at once.
    static void Fill(Socket socket)
    {
        var pieces = new List<ArraySegment<byte>> { new ArraySegment<byte>(new byte[1 << 16]) };
        socket.Blocking = false;
        ErrorOf(() => { for (;;) socket.Send(pieces); });
        socket.Blocking = true;
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

    // A listener whose queue is full: further connections wait.
    static Socket FullListener(out EndPoint address, List<Socket> held)
    {
        var listener = Listen(0, out address);
        for (int i = 0; i < 4; i++)
        {
            var socket = NewSocket();
            held.Add(socket);
            socket.BeginConnect(address, null, null);
        }
        // The system takes one or two; the others wait.
        Thread.Sleep(Moment);
        return listener;
    }

    static void Endings(string how, Action<Thread, Socket> end)
    {
        Socket one, other;
        Action<string, Socket, Action<Socket>> check = (what, socket, wait) =>
        {
            string outcome = "nothing";
            bool isInside = false;
            var thread = new Thread(() =>
            {
                try
                {
                    Volatile.Write(ref isInside, true);
                    outcome = ErrorOf(() => wait(socket)) == "none" ? "went on" : "error";
                }
                catch (ThreadAbortException)
                {
                    outcome = "abort";
                }
            });
            thread.Start();
            while (!Volatile.Read(ref isInside))
                Thread.Sleep(1);
            Thread.Sleep(Moment);
            end(thread, socket);
            bool ended = thread.Join(Limit);
            Console.WriteLine(how + " while " + what + ": " + (ended ? outcome : "still waiting"));
        };
        Pair(out one, out other);
        check("receiving", one, s => s.Receive(new byte[1]));
        other.Close();
        Pair(out one, out other);
        Fill(one);
        check("sending", one, s => s.Send(new byte[1 << 20]));
        other.Close();
        Pair(out one, out other);
        if (how == "aborted")
        {
            // What Poll and Select say of a socket that was closed is another matter.
            check("polling", one, s => s.Poll(-1, SelectMode.SelectRead));
            check("selecting", other, s => Socket.Select(new List<Socket> { s }, null, null, -1));
        }
        one.Close();
        other.Close();
        EndPoint address;
        var listener = Listen(4, out address);
        check("accepting", listener, s => s.Accept());
        listener.Close();
        var datagrams = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp);
        datagrams.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        check("receiving datagrams", datagrams, s =>
        {
            EndPoint from = new IPEndPoint(IPAddress.Any, 0);
            s.ReceiveFrom(new byte[1], ref from);
        });
        datagrams.Close();
        var held = new List<Socket>();
        listener = FullListener(out address, held);
        check("connecting", NewSocket(), s => s.Connect(address));
        held.ForEach(s => s.Close());
        listener.Close();
    }

    // Twenty threads wait for one socket.
    static void ManyAtOnce()
    {
        Socket one, other;
        Pair(out one, out other);
        int ended = 0;
        var threads = Enumerable.Range(0, 20).Select(i => new Thread(() =>
        {
            ErrorOf(() => one.Receive(new byte[1]));
            Interlocked.Increment(ref ended);
        })).ToList();
        threads.ForEach(thread => thread.Start());
        Thread.Sleep(Moment);
        one.Close();
        threads.ForEach(thread => thread.Join(Limit));
        Console.WriteLine("twenty in one close: " + ended);
        other.Close();
    }

    // An interrupt ends no wait for a socket; the thread's next wait of the other kind is interrupted.
    static void Interrupted()
    {
        Socket one, other;
        Pair(out one, out other);
        string outcome = "";
        var thread = new Thread(() =>
        {
            outcome = "received " + one.Receive(new byte[4]);
            try
            {
                Thread.Sleep(Limit);
            }
            catch (ThreadInterruptedException)
            {
                outcome += ", interrupted then";
            }
        });
        thread.Start();
        Thread.Sleep(Moment);
        thread.Interrupt();
        Thread.Sleep(Moment);
        other.Send(new byte[4]);
        Console.WriteLine("interrupt: " + (thread.Join(Limit) ? outcome : "still waiting"));
        one.Close();
        other.Close();
    }

    static void Timeouts()
    {
        Socket one, other;
        Pair(out one, out other);
        one.ReceiveTimeout = one.SendTimeout = 40;
        var watch = System.Diagnostics.Stopwatch.StartNew();
        ErrorOf(() => one.Receive(new byte[1]));
        long afterReceive = watch.ElapsedMilliseconds;
        Fill(one);
        Console.WriteLine("send: " + ErrorOf(() => one.Send(new byte[1 << 20])));
        long afterSend = watch.ElapsedMilliseconds;
        Console.WriteLine("waited: " + (afterReceive >= 30) + " " + (afterSend - afterReceive >= 30) + ", not long: " + (afterSend < 5000));
        watch.Restart();
        Console.WriteLine("poll: " + one.Poll(40000, SelectMode.SelectRead) + " " + (watch.ElapsedMilliseconds >= 30));
#if !NET // where Accept waits for ever
        EndPoint address;
        using (var listener = Listen(4, out address))
        {
            listener.ReceiveTimeout = 40;
            Console.WriteLine("accept: " + (ErrorOf(() => listener.Accept()) != "none"));
        }
#endif
        one.Close();
        other.Close();
    }

    // More clients than the queue of the listener holds: all of them get through. The system may forget a connection that the client takes for made, so clients speak
    // first, and try again when they hear that nobody knows them.
    static void FullQueue()
    {
        const int Clients = 5;
        EndPoint address;
        var listener = Listen(1, out address);
        int answered = 0;
        var clients = Enumerable.Range(0, Clients).Select(i => new Thread(() =>
        {
            for (bool done = false; !done; )
                using (var socket = NewSocket())
                    ErrorOf(() =>
                    {
                        socket.Connect(address);
                        socket.Send(new byte[1]);
                        done = socket.Receive(new byte[1]) == 1;
                    });
            Interlocked.Increment(ref answered);
        })).ToList();
        clients.ForEach(client => client.Start());
        Thread.Sleep(Moment);
        for (int served = 0; served < Clients; )
            using (var accepted = listener.Accept())
                ErrorOf(() =>
                {
                    if (accepted.Receive(new byte[1]) == 1)
                    {
                        accepted.Send(new byte[1]);
                        served++;
                    }
                });
        clients.ForEach(client => client.Join(Limit));
        Console.WriteLine("through a full queue: " + answered);
        listener.Close();

        // The same by way of the file system.
        string path = Path.GetFullPath("queue");
        var unix = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        unix.Bind(new UnixEndPoint(path));
        unix.Listen(1);
        int connected = 0;
        clients = Enumerable.Range(0, 10).Select(i => new Thread(() =>
        {
            using (var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified))
            {
                socket.Connect(new UnixEndPoint(path));
                if (socket.Receive(new byte[1]) == 1)
                    Interlocked.Increment(ref connected);
            }
        })).ToList();
        clients.ForEach(client => client.Start());
        Thread.Sleep(Moment);
        for (int i = 0; i < clients.Count; i++)
            using (var accepted = unix.Accept())
                accepted.Send(new byte[1]);
        clients.ForEach(client => client.Join(Limit));
        Console.WriteLine("through a full queue of the file system: " + connected);
        unix.Close();
        File.Delete(path);
    }

    class UnixEndPoint : EndPoint
    {
        readonly string path;

        public UnixEndPoint(string path)
        {
            this.path = path;
        }

        public override AddressFamily AddressFamily { get { return AddressFamily.Unix; } }

        public override SocketAddress Serialize()
        {
            var bytes = System.Text.Encoding.UTF8.GetBytes(path);
            var address = new SocketAddress(AddressFamily.Unix, 2 + bytes.Length + 1);
            for (int i = 0; i < bytes.Length; i++)
                address[2 + i] = bytes[i];
            address[2 + bytes.Length] = 0;
            return address;
        }

        public override EndPoint Create(SocketAddress address)
        {
            return new UnixEndPoint(path);
        }
    }

    // A program gives up connecting after a time of its own.
    static void ConnectThatTakesLong()
    {
        EndPoint address;
        var held = new List<Socket>();
        var listener = FullListener(out address, held);
        var socket = NewSocket();
        var begun = socket.BeginConnect(address, null, null);
        bool done = begun.AsyncWaitHandle.WaitOne(60);
        socket.Close();
        Console.WriteLine("connected: " + done + ", then: " + (ErrorOf(() => socket.EndConnect(begun)) != "none"));
        held.ForEach(s => s.Close());
        listener.Close();
    }

    static void Refused()
    {
        EndPoint address;
        Listen(1, out address).Close();
        var socket = NewSocket();
        Console.WriteLine("refused: " + ErrorOf(() => socket.Connect(address)));
        socket.Close();
        socket = NewSocket();
        var begun = socket.BeginConnect(address, null, null);
        Console.WriteLine("refused: " + ErrorOf(() => socket.EndConnect(begun)));
        socket.Close();
    }

    [StructLayout(LayoutKind.Sequential)]
    struct Limits
    {
        public ulong Now, Most;
    }

    [DllImport("libc")]
    static extern int getrlimit(int resource, out Limits limits);

    [DllImport("libc")]
    static extern int setrlimit(int resource, ref Limits limits);

    // Connections wait in the queue while the process has no descriptor for them, and none is lost.
    static void NoDescriptors()
    {
        const int Files = 7, Clients = 12;
        EndPoint address;
        var listener = Listen(64, out address);
        var clients = Enumerable.Range(0, Clients).Select(i => NewSocket()).ToList();
        int errors = 0, served = 0;
        bool begun = false;
        var server = new Thread(() =>
        {
            // The machine's own threads may close a descriptor at any time. A connection keeps the one that it got until there is none left.
            var kept = new List<Socket>();
            while (served < Clients)
            {
                try
                {
                    var connection = listener.Accept();
                    connection.Send(new byte[] { 42 });
                    served++;
                    if (begun)
                        connection.Close();
                    else
                        kept.Add(connection);
                }
                catch (SocketException e)
                {
                    if (e.SocketErrorCode == SocketError.TooManyOpenSockets)
                        errors++;
                    Volatile.Write(ref begun, true);
                    Thread.Sleep(2);
                }
            }
            kept.ForEach(connection => connection.Close());
        });
        ErrorOf(() => { throw new SocketException((int)SocketError.TooManyOpenSockets); });
        // A finalizer that closes a file of an earlier part would give a descriptor back in the middle of this one.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Limits before, few;
        getrlimit(Files, out before);
        var fillers = new List<FileStream>();
        few = before;
        few.Now = 128;
        setrlimit(Files, ref few);
        Action fill = () =>
        {
            try
            {
                for (;;)
                    fillers.Add(new FileStream("/dev/null", FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
            }
            catch (IOException)
            {
            }
        };
        fill();
        foreach (var client in clients)
            client.Connect(address);
        server.Start();
        for (int i = 0; i < 2000 && !Volatile.Read(ref begun); i++)
            Thread.Sleep(5);
        fillers.ForEach(file => file.Dispose());
        int right = clients.Count(client =>
        {
            var answer = new byte[1];
            return client.Receive(answer) == 1 && answer[0] == 42;
        });
        server.Join(Limit);
        setrlimit(Files, ref before);
        Console.WriteLine("without descriptors: " + (errors > 0) + ", served then: " + right);
        clients.ForEach(client => client.Close());
        listener.Close();
    }
}
