// io: each
// net: skip .NET keeps more descriptors for its sockets after each round, for which the program waits
// A server with a thread for each connection under load: some connections are busy, as many are idle, a few clients are slow, break off or send nothing. Nothing is lost, nobody
// starves, and threads, descriptors and memory are given back. The number of connections of each kind is the program's argument (100 without one); with a second one, "apart", the clients
// are in a process of their own.
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
    static bool tells, areApart;

    static int Main(string[] args)
    {
        int count = args.Length > 0 ? int.Parse(args[0]) : 100;
        tells = args.Length > 0;
        areApart = args.Length >= 2;
        // A connection has two ends.
        count = (int)Math.Min(count, (RaiseLimit() - 200) / (areApart ? 2 : 4));
        if (args.Length == 3)
            return Load(count, new IPEndPoint(IPAddress.Loopback, int.Parse(args[2]))) ? 0 : 1;
        // What the first round makes for good is no leak.
        Round(Math.Min(count, 100));
        int descriptors = Descriptors();
        long before = Memory();
        bool isRight = Round(count);
        // The structures of threads are kept for the next ones.
        Becomes(() => { GC.Collect(); return Memory() - before < (64 << 20); }, 150);
        long memory = Memory();
        isRight &= Round(count);
        isRight = Tell("rounds", isRight);
        isRight &= Tell("descriptors back", Becomes(() => Descriptors() <= descriptors));
        // Carriers that system calls blocked wait for the next ones.
        string mode = Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native";
        bool mayBeMany = mode != "native" && Environment.GetEnvironmentVariable("SAKI_IO") == "blocking";
        isRight &= Tell("threads back", mayBeMany || Becomes(() => Directory.GetDirectories("/proc/self/task").Length < 96 + 2 * Environment.ProcessorCount));
        isRight &= Tell("memory back", Becomes(() => { GC.Collect(); return Memory() - memory < (32 << 20) + count * 2048L; }));
        if (tells)
            Console.WriteLine("KiB before: " + before / 1024 + ", after the first load: " + memory / 1024 + ", after the second: " + Memory() / 1024);
        return isRight ? 0 : 1;
    }

    static bool Tell(string what, bool isRight)
    {
        Console.WriteLine(what + ": " + isRight);
        return isRight;
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

    // The number of descriptors that the process may have.
    static long RaiseLimit()
    {
        const int Files = 7;
        Limits limits;
        getrlimit(Files, out limits);
        limits.Now = limits.Most;
        setrlimit(Files, ref limits);
        return (long)Math.Min(limits.Now, int.MaxValue);
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

    const int Slow = 5, Broken = 5, Silent = 5;

    static bool Round(int count)
    {
        served = ended = 0;
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(4096);
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
        bool isRight;
        if (areApart)
        {
            string program = System.Reflection.Assembly.GetExecutingAssembly().Location;
            string arguments = count + " clients " + ((IPEndPoint)listener.LocalEndPoint).Port;
            var info = new System.Diagnostics.ProcessStartInfo(program, arguments) { UseShellExecute = false };
            using (var process = System.Diagnostics.Process.Start(info))
            {
                process.WaitForExit();
                isRight = process.ExitCode == 0;
            }
        }
        else
            isRight = Load(count, listener.LocalEndPoint);
        isRight &= acceptor.Join(Limit);
        listener.Close();
        bool haveAllLeft = Becomes(() => Volatile.Read(ref ended) == total);
        int expected = count * (1 + Requests) + count * 2 + Slow;
        if (tells)
            Console.WriteLine(count + " busy, " + count + " idle: " + watch.ElapsedMilliseconds + " ms");
        if (!haveAllLeft || served != expected)
            Console.WriteLine(ended + " of " + total + " ended, " + served + " of " + expected + " served");
        return isRight && haveAllLeft && served == expected;
    }

    // All clients, which connect, ask and leave.
    static bool Load(int count, EndPoint server)
    {
        address = server;
        failed = 0;
        // A first answer says that the connection was accepted: more than the listener's queue holds would be lost.
        var idle = new List<Socket>();
        for (int i = 0; i < count; i++)
        {
            idle.Add(Connect());
            Ask(idle[i], i);
        }
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
        // The connections of all of them are there before the first one leaves.
        var busy = new CountdownEvent(count);
        var gate = new SemaphoreSlim(500);
        for (int i = 0; i < count; i++)
        {
            int number = i;
            clients.Add(Client(() =>
            {
                gate.Wait();
                using (var socket = Connect())
                {
                    Ask(socket, number);
                    gate.Release();
                    busy.Signal();
                    busy.Wait();
                    for (int n = 0; n < Requests; n++)
                    {
                        Ask(socket, number + n);
                        Thread.Sleep(1);
                    }
                }
            }));
        }
        bool haveEnded = clients.All(client => client.Join(Limit));
        // Those that were idle are as they were.
        for (int i = 0; i < count; i++)
            Ask(idle[i], i);
        idle.ForEach(socket => socket.Close());
        silent.ForEach(socket => socket.Close());
        if (!haveEnded || failed != 0)
            Console.WriteLine("ended: " + haveEnded + ", failed: " + failed);
        return haveEnded && failed == 0;
    }
}
