// Known amounts of what profiles count. Argument: which.
using System;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Events
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    static object kept;

    // 100 bytes of elements each: 300,000 times.
    [MethodImpl(Apart)]
    static void AllocatesThrice() { for (int i = 0; i < 300000; i++) kept = new byte[100]; }

    // As large, by way of other types: 100,000 times.
    [MethodImpl(Apart)]
    static void AllocatesOnce() { for (int i = 0; i < 100000; i++) kept = new short[50]; }

    [MethodImpl(Apart)]
    static void AllocatesLarge() { for (int i = 0; i < 100; i++) kept = new int[25000]; }

    [MethodImpl(Apart)]
    static void Throws()
    {
        for (int i = 0; i < 300; i++)
            try { throw new InvalidOperationException(); } catch (InvalidOperationException) { }
    }

    [MethodImpl(Apart)]
    static void Faults()
    {
        string nothing = null;
        for (int i = 0; i < 200; i++)
            try { GC.KeepAlive(nothing.Length); } catch (NullReferenceException) { }
    }

    [MethodImpl(Apart)]
    static void WaitsForLock(object gate) { lock (gate) { } }

    [MethodImpl(Apart)]
    static void Computes(int milliseconds)
    {
        var watch = Stopwatch.StartNew();
        double x = 1;
        while (watch.ElapsedMilliseconds < milliseconds)
            for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 0.1;
        GC.KeepAlive(x);
    }

    [MethodImpl(Apart)]
    static void Sleeps(int milliseconds) { Thread.Sleep(milliseconds); }

    [MethodImpl(Apart)]
    static void Receives(Socket socket) { socket.Receive(new byte[1]); }

    [MethodImpl(Apart)]
    static void Accepts(Socket listener, int milliseconds)
    {
        using (var socket = listener.Accept())
        {
            Thread.Sleep(milliseconds);
            socket.Send(new byte[1]);
        }
    }

    [MethodImpl(Apart)]
    static void ReadsFile()
    {
        using (var file = new FileStream(typeof(Events).Assembly.Location, FileMode.Open, FileAccess.Read))
            file.Read(new byte[100], 0, 100);
    }

    class Rare<T> { public T item; }

    [MethodImpl(Apart)]
    static void LoadsTypes() { kept = new Rare<string>(); kept = new Rare<long>(); }

    [MethodImpl(Apart)]
    static void StartsThreads()
    {
        for (int i = 0; i < 20; i++)
        {
            var thread = new Thread(() => { });
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(Apart)]
    static void MakesHandles()
    {
        for (int i = 0; i < 100; i++) GCHandle.Alloc(kept).Free();
        for (int i = 0; i < 50; i++) GCHandle.Alloc(new byte[1], GCHandleType.Pinned).Free();
    }

    // Equal shares.
    [MethodImpl(Apart)]
    static double Overloaded(int n) { double x = n; for (int i = 0; i < 30000; i++) x = x * 1.0000001 + 0.1; return x; }

    [MethodImpl(Apart)]
    static double Overloaded(string s, int[] n) { double x = n[0]; for (int i = 0; i < 30000; i++) x = x * 1.0000001 + 0.1; return x; }

    [MethodImpl(Apart)]
    static double OverloadedNot(int n) { return Overloaded(n) + Overloaded("", new[] { n }); }

    // Threads wait in five ways, and the current one computes until the input ends.
    static void Busy()
    {
        var gate = new object();
        bool isOver = false;
        var main = Thread.CurrentThread;
        var waits = new Action[]
        {
            () => Thread.Sleep(Timeout.Infinite), () => new ManualResetEvent(false).WaitOne(), () => WaitsForLock(gate),
            () => new AutoResetEvent(false).WaitOne(1000000), () => main.Join(),
        };
        lock (gate)
        {
            for (int i = 0; i < waits.Length; i++)
            {
                var wait = waits[i];
                new Thread(() => wait()) { IsBackground = true, Name = "Idle " + i }.Start();
            }
            new Thread(() => { Console.In.ReadToEnd(); Volatile.Write(ref isOver, true); }) { Name = "Input" }.Start();
            Computes(500);
            Console.WriteLine("ready");
            while (!Volatile.Read(ref isOver)) Computes(50);
        }
    }

    static void Main(string[] args)
    {
        switch (args[0])
        {
            case "alloc":
                for (int i = 0; i < 2; i++) { AllocatesThrice(); AllocatesOnce(); AllocatesLarge(); }
                break;
            case "exceptions":
                Throws();
                Faults();
                break;
            case "lock":
                var gate = new object();
                var waiting = new Thread[3];
                for (int i = 0; i < waiting.Length; i++) waiting[i] = new Thread(() => WaitsForLock(gate));
                lock (gate)
                {
                    // One after the other, so that the last finds two in front of it.
                    foreach (var thread in waiting)
                    {
                        thread.Start();
                        while ((thread.ThreadState & System.Threading.ThreadState.WaitSleepJoin) == 0) Thread.Sleep(1);
                        Thread.Sleep(170);
                    }
                }
                foreach (var thread in waiting) thread.Join();
                break;
            case "busy":
                Busy();
                break;
            case "collects, then computes":
                var list = new System.Collections.Generic.List<object>();
                var clock = Stopwatch.StartNew();
                while (clock.ElapsedMilliseconds < 1500)
                {
                    for (int i = 0; i < 10000; i++) list.Add(new object[4]);
                    if (list.Count > 200000) list.Clear();
                    GC.Collect();
                }
                list.Clear();
                Computes(3000);
                break;
            case "gc":
                for (int i = 0; i < 3; i++) GC.Collect();
                break;
            case "io":
                var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                listener.Listen(1);
                var server = new Thread(() => Accepts(listener, 500));
                server.Start();
                using (var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
                {
                    client.Connect(listener.LocalEndPoint);
                    Receives(client);
                }
                server.Join();
                ReadsFile();
                break;
            case "timeout":
                var silent = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
                silent.Bind(new IPEndPoint(IPAddress.Loopback, 0));
                silent.Listen(1);
                var closer = new Thread(() => Accepts(silent, 8000)) { IsBackground = true };
                closer.Start();
                using (var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
                {
                    client.ReceiveTimeout = 300;
                    client.Connect(silent.LocalEndPoint);
                    try { Console.WriteLine(client.Receive(new byte[1])); }
                    catch (SocketException e) { Console.WriteLine(e.SocketErrorCode); }
                }
                break;
            case "made":
                kept = "";
                LoadsTypes();
                StartsThreads();
                MakesHandles();
                break;
            case "turns":
                var first = new Thread(() => Computes(1000));
                first.Start();
                Computes(1000);
                first.Join();
                Sleeps(100);
                break;
            case "overloads":
                double sum = 0;
                for (int i = 0; i < 20000; i++) sum += OverloadedNot(i);
                GC.KeepAlive(sum);
                break;
            case "wall":
                var sleeper = new Thread(() => Sleeps(2000)) { Name = "Sleeper" };
                var worker = new Thread(() => Computes(2000)) { Name = "Worker" };
                sleeper.Start();
                worker.Start();
                sleeper.Join();
                worker.Join();
                break;
        }
        Console.WriteLine("ok");
    }
}
