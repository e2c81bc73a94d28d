// timeout: 120
// Thread.Abort ends system calls that block, whether the abort comes while the thread is in the call or just before it, and
// the thread's finally blocks and its catch of ThreadAbortException run. Thread.Interrupt ends waits only.
using System;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class AbortBlocked
{
    static int endings;

    static void Check(string name, Action block, int delay = 60)
    {
        bool wasAborted = false, ranFinally = false, returned = false;
        var began = new ManualResetEvent(false);
        var thread = new Thread(() =>
        {
            try
            {
                began.Set();
                block();
                returned = true;
            }
            catch (ThreadAbortException)
            {
                wasAborted = true;
                Thread.ResetAbort();
            }
            finally
            {
                ranFinally = true;
            }
        });
        thread.IsBackground = true;
        thread.Start();
        if (delay > 0)
        {
            began.WaitOne();
            Thread.Sleep(delay);
        }
        thread.Abort();
        if (!thread.Join(20000))
            Console.WriteLine("{0}: stuck", name);
        else if (delay > 0)
            Console.WriteLine("{0}: {1}", name, returned ? "returned" : wasAborted && ranFinally ? "aborted" : "lost");
        else
            endings++;
    }

    static Socket Listener()
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen(1);
        return listener;
    }

    static void Main()
    {
        var gate = new object();
        Check("sleep", () => Thread.Sleep(Timeout.Infinite));
        Check("monitor wait", () => { lock (gate) Monitor.Wait(gate); });
        Check("event", () => new ManualResetEvent(false).WaitOne());
        var server = new AnonymousPipeServerStream(PipeDirection.Out, HandleInheritability.None);
        var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
        Check("pipe read", () => client.ReadByte());
        Check("pipe write", () => { var data = new byte[1 << 20]; while (true) server.Write(data, 0, data.Length); });
        var listener = Listener();
        Check("accept", () => listener.Accept());
        Check("poll", () => listener.Poll(-1, SelectMode.SelectRead));
        Check("select", () => Socket.Select(new[] { listener }, null, null, -1));
        var peer = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        peer.Connect(listener.LocalEndPoint);
        Check("receive", () => peer.Receive(new byte[10]));
        Check("network stream", () => new NetworkStream(peer).ReadByte());
        Check("send", () => { var data = new byte[1 << 20]; while (true) peer.Send(data); });
        var full = Listener();
        Check("connect", () =>
        {
            // Nobody accepts: after a few the handshake is not answered.
            while (true)
                new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp).Connect(full.LocalEndPoint);
        }, 300);
        var child = Process.Start(new ProcessStartInfo("sleep", "60") { UseShellExecute = false });
        Check("process", () => child.WaitForExit());
        child.Kill();
        for (int i = 0; i < 100; i++)
        {
            Check("at once", () => listener.Poll(-1, SelectMode.SelectError), 0);
            Check("at once", () => peer.Receive(new byte[10]), 0);
        }
        Console.WriteLine(endings);

        bool interrupted = false;
        int got = -1;
        var reading = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        var other = Listener();
        reading.Connect(other.LocalEndPoint);
        var far = other.Accept();
        var reader = new Thread(() =>
        {
            got = reading.Receive(new byte[10]);
            try { Thread.Sleep(20000); } catch (ThreadInterruptedException) { interrupted = true; }
        });
        reader.Start();
        Thread.Sleep(60);
        reader.Interrupt();
        Thread.Sleep(60);
        Console.WriteLine("interrupt leaves the call: {0}", got == -1);
        far.Send(new byte[3]);
        reader.Join();
        Console.WriteLine("{0} {1}", got, interrupted);
    }
}
