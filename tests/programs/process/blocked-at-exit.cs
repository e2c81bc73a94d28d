// timeout: 120
// Threads that are blocked when the process ends stay so: what their calls return, and why, is nobody's business any more. The exit
// code is that of Main, of Environment.Exit, or of an exception that nobody caught.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO.Pipes;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Threading;

class NeedsLock
{
    ~NeedsLock()
    {
        lock (Program.Lock) {}
    }
}

class ClosesSocket
{
    readonly Socket socket;

    public ClosesSocket(Socket socket)
    {
        this.socket = socket;
    }

    ~ClosesSocket()
    {
        socket.Close();
    }
}

static class Program
{
    public static readonly object Lock = new object();
    static int started, count;

    [DllImport("libc")]
    static extern int pause();

    static void Block(string name, Action action)
    {
        var thread = new Thread(() =>
        {
            Interlocked.Increment(ref started);
            try
            {
                action();
            }
            catch (ThreadAbortException)
            {
                return;
            }
            catch (Exception e)
            {
                Console.WriteLine(name + ": " + e.GetType());
                throw;
            }
            Console.WriteLine(name + " went on");
            throw new Exception(name);
        });
        thread.IsBackground = true;
        count++;
        thread.Start();
    }

    static Socket Listen()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen(8);
        return socket;
    }

    static Socket Connect(Socket listener)
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Connect(listener.LocalEndPoint);
        return socket;
    }

    static readonly List<object> kept = new List<object>();

    static T Keep<T>(T thing)
    {
        kept.Add(thing);
        return thing;
    }

    static Process Cat()
    {
        return Keep(Process.Start(new ProcessStartInfo("/bin/cat")
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        }));
    }

    static int Child(string mode)
    {
        Socket listener = Keep(Listen());
        Block("accept", () => listener.Accept());
        Socket second = Keep(Listen());
        for (int i = 0; i < 4; i++)
        {
            Socket client = Keep(Connect(second)), server = Keep(second.Accept());
            Block("receive", () => client.Receive(new byte[4]));
            Block("receive at the server", () => server.Receive(new byte[4]));
        }
        Keep(Connect(second));
        Socket source = Keep(second.Accept());
        Block("send", () => { while (true) source.Send(new byte[100000]); });
        var datagrams = Keep(new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp));
        datagrams.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        Block("datagrams", () => datagrams.Receive(new byte[4]));
        Block("select", () => Socket.Select(new List<Socket> { second }, null, null, -1));
        Block("poll", () => second.Poll(-1, SelectMode.SelectRead));
        var pipe = Keep(new AnonymousPipeServerStream(PipeDirection.In));
        Keep(pipe.ClientSafePipeHandle);
        Block("pipe", () => pipe.ReadByte());
        Block("console", () => Console.In.ReadLine());
        Process first = Cat(), other = Cat();
        Block("process", () => first.WaitForExit());
        Block("output of a process", () => other.StandardOutput.ReadToEnd());
        Block("sleep", () => Thread.Sleep(Timeout.Infinite));
        var never = Keep(new ManualResetEvent(false));
        Block("event", () => never.WaitOne());
        Block("monitor", () => { lock (never) Monitor.Wait(never); });
        Thread sleeper = new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true };
        sleeper.Start();
        Block("join", () => sleeper.Join());
        Block("native code", () => { while (true) pause(); });
        if (mode == "lock")
        {
            // A finalizer waits for a lock of a blocked thread, which ends by an abort.
            Keep(new NeedsLock());
            Socket third = Keep(Listen());
            Block("owner of a lock", () => { lock (Lock) third.Accept(); });
        }
        if (mode == "close")
            Keep(new ClosesSocket(listener));
        while (started < count)
            Thread.Sleep(1);
        Thread.Sleep(50);
        switch (mode)
        {
            case "exit":
                Environment.Exit(3);
                break;
            case "throw":
                new Thread(() => { throw new InvalidOperationException("thrown on purpose"); }).Start();
                Thread.Sleep(Timeout.Infinite);
                break;
        }
        return 5;
    }

    static void Run(string mode)
    {
        var start = new ProcessStartInfo("/proc/self/exe", "\"" + Assembly.GetExecutingAssembly().Location + "\" " + mode)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using (Process child = Process.Start(start))
        {
            string errors = "";
            var reader = new Thread(() => errors = child.StandardError.ReadToEnd());
            reader.Start();
            string output = child.StandardOutput.ReadToEnd();
            child.WaitForExit();
            reader.Join();
            bool isTold = errors.Contains("thrown on purpose");
            Console.WriteLine("{0}: {1}{2}{3}", mode, child.ExitCode, isTold ? " told" : "", output == "" ? "" : " " + output);
            if (mode != "throw" && errors != "")
                Console.WriteLine(errors);
        }
    }

    static int Main(string[] args)
    {
        if (args.Length == 1)
            return Child(args[0]);
        foreach (string mode in new[] { "return", "exit", "throw", "lock", "close" })
            Run(mode);
        return 0;
    }
}
