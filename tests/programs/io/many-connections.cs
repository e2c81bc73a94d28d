// io: each
// A server with a thread for each connection under load: some connections are busy, as many are idle, a few clients are slow, break off or send nothing. Nothing is lost, nobody
// starves, and threads, descriptors and memory are given back. The number of connections of each kind is the program's argument (100 without one).
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Threading;

class ManyConnections
{
    const int Requests = 5, MessageLength = 64, StackSize = 128 << 10, Limit = 120000;

    static int served, ended, failed;
    static EndPoint address;
    static bool tells;

    static int Main(string[] args)
    {
        int count = args.Length > 0 ? int.Parse(args[0]) : 100;
        tells = args.Length > 0;
        RaiseLimit();
        // What the first round makes for good is no leak.
        Round(Math.Min(count, 100));
        int descriptors = Descriptors();
        long before = Memory();
        bool isRight = Round(count);
        // The structures of threads are kept for the next ones.
        Becomes(() => { GC.Collect(); return Memory() - before < (64 << 20); }, 150);
        long memory = Memory();
        isRight &= Round(count);
        Console.WriteLine("rounds: " + isRight);
        Console.WriteLine("descriptors back: " + Becomes(() => Descriptors() <= descriptors));
        // Carriers that system calls blocked wait for the next ones.
        string mode = Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native";
        bool mayBeMany = mode != "native" && Environment.GetEnvironmentVariable("SAKI_IO") == "blocking";
        Console.WriteLine("threads back: " + (mayBeMany || Becomes(() => Directory.GetDirectories("/proc/self/task").Length < 100)));
        Console.WriteLine("memory back: " + Becomes(() => { GC.Collect(); return Memory() - memory < (32 << 20) + count * 2048L; }));
        if (tells)
            Console.WriteLine("KiB before: " + before / 1024 + ", after the first load: " + memory / 1024 + ", after the second: " + Memory() / 1024);
        return isRight ? 0 : 1;
    }

    static bool Becomes(Func<bool> condition, int looks = 1000)
    {
        for (int i = 0; i < looks; i++)
        {
            if (condition())
                return true;
            Thread.Sleep(20);
        }
        return false;
    }

    static int Descriptors()
    {
        return Directory.GetFiles("/proc/self/fd").Length;
    }

    // Bytes resident.
    static long Memory()
    {
        return long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]) * Environment.SystemPageSize;
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

    static void RaiseLimit()
    {
        const int Files = 7;
        Limits limits;
        getrlimit(Files, out limits);
        limits.Now = limits.Most;
        setrlimit(Files, ref limits);
    }

    static Socket Connect()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(address);
        return socket;
    }

    static bool ReceiveAll(Socket socket, byte[] buffer)
    {
        for (int got = 0; got < buffer.Length; )
        {
            int count = socket.Receive(buffer, got, buffer.Length - got, SocketFlags.None);
            if (count == 0)
                return false;
            got += count;
        }
        return true;
    }

    static void Serve(Socket connection)
    {
        try
        {
            using (connection)
            {
                var message = new byte[MessageLength];
                while (ReceiveAll(connection, message))
                {
                    Array.Reverse(message);
                    connection.Send(message);
                    Interlocked.Increment(ref served);
                }
            }
        }
        catch (SocketException)
        {
            // A client that broke off.
        }
        Interlocked.Increment(ref ended);
    }

    static void Ask(Socket socket, int number)
    {
        var message = new byte[MessageLength];
        for (int i = 0; i < MessageLength; i++)
            message[i] = (byte)(number * 7 + i);
        var answer = new byte[MessageLength];
        socket.Send(message);
        if (!ReceiveAll(socket, answer))
            throw new Exception("no answer");
        Array.Reverse(answer);
        if (!answer.SequenceEqual(message))
            throw new Exception("another answer");
    }

    static Thread Client(Action action)
    {
        var thread = new Thread(() =>
        {
            try
            {
                action();
            }
            catch (Exception e)
            {
                if (Interlocked.Increment(ref failed) < 5)
                    Console.WriteLine(e);
            }
        }, StackSize);
        thread.Start();
        return thread;
    }

    static bool Round(int count)
    {
        const int Slow = 5, Broken = 5, Silent = 5;
        served = ended = failed = 0;
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(4096);
        address = listener.LocalEndPoint;
        int total = 2 * count + Slow + Broken + Silent;
        var acceptor = Client(() =>
        {
            for (int i = 0; i < total; i++)
            {
                var connection = listener.Accept();
                connection.NoDelay = true;
                new Thread(() => Serve(connection), StackSize).Start();
            }
        });
        var watch = System.Diagnostics.Stopwatch.StartNew();
        var idle = Enumerable.Range(0, count).Select(i => Connect()).ToList();
        var silent = Enumerable.Range(0, Silent).Select(i => Connect()).ToList();
        var clients = new List<Thread>();
        for (int i = 0; i < Slow; i++)
            clients.Add(Client(() =>
            {
                using (var socket = Connect())
                {
                    for (int n = 0; n < MessageLength; n++)
                    {
                        socket.Send(new byte[1]);
                        Thread.Sleep(4);
                    }
                    if (!ReceiveAll(socket, new byte[MessageLength]))
                        throw new Exception("no answer");
                }
            }));
        for (int i = 0; i < Broken; i++)
            clients.Add(Client(() =>
            {
                var socket = Connect();
                socket.Send(new byte[MessageLength / 2]);
                socket.LingerState = new LingerOption(true, 0);
                socket.Close();
            }));
        for (int i = 0; i < count; i++)
        {
            int number = i;
            clients.Add(Client(() =>
            {
                using (var socket = Connect())
                    for (int n = 0; n < Requests; n++)
                    {
                        Ask(socket, number + n);
                        Thread.Sleep(1);
                    }
            }));
        }
        bool haveEnded = clients.All(client => client.Join(Limit)) && acceptor.Join(Limit);
        // Those that were idle are as they were.
        for (int i = 0; i < count; i++)
            Ask(idle[i], i);
        idle.ForEach(socket => socket.Close());
        silent.ForEach(socket => socket.Close());
        listener.Close();
        bool haveAllLeft = Becomes(() => Volatile.Read(ref ended) == total);
        int expected = count * Requests + count + Slow;
        if (tells)
            Console.WriteLine(count + " busy, " + count + " idle: " + watch.ElapsedMilliseconds + " ms");
        if (!haveEnded || !haveAllLeft || failed != 0 || served != expected)
            Console.WriteLine(haveEnded + " " + ended + " of " + total + " ended, " + failed + " failed, " + served + " of " + expected + " served");
        return haveEnded && haveAllLeft && failed == 0 && served == expected;
    }
}
