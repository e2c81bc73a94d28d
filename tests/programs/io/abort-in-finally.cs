// io: each
// A thread that is asked to abort while it waits in a finally block goes on waiting, and costs no processor time meanwhile.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class AbortInFinally
{
    const int Limit = 10000;

    static void Main()
    {
        Socket one, other;
        Pair(out one, out other);
        Check("receiving", () => one.Receive(new byte[1]), () => other.Send(new byte[1]));
        Check("polling", () => one.Poll(-1, SelectMode.SelectRead), () => other.Send(new byte[1]));
        var info = new ProcessStartInfo("/bin/cat") { UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true };
        using (var process = Process.Start(info))
        {
            Check("reading", () => process.StandardOutput.ReadLine(), () => process.StandardInput.WriteLine("line"));
            process.StandardInput.Close();
            process.WaitForExit();
        }
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Check("accepting", () => listener.AcceptSocket(), () => new TcpClient().Connect((IPEndPoint)listener.LocalEndpoint));
        listener.Stop();
    }

    static void Pair(out Socket one, out Socket other)
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        one = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        one.Connect(listener.LocalEndpoint);
        other = listener.AcceptSocket();
        listener.Stop();
    }

    static void Check(string what, Action wait, Action end)
    {
        bool isInside = false, hasWaited = false, isAborted = false;
        var thread = new Thread(() =>
        {
            try
            {
                try
                {
                }
                finally
                {
                    Volatile.Write(ref isInside, true);
                    wait();
                    hasWaited = true;
                }
                Thread.Sleep(Limit);
            }
            catch (ThreadAbortException)
            {
                isAborted = true;
            }
        });
        thread.Start();
        while (!Volatile.Read(ref isInside))
            Thread.Sleep(1);
        Thread.Sleep(30);
        // Abort comes back when the thread is aborted.
        var aborter = new Thread(() => thread.Abort());
        aborter.Start();
        Thread.Sleep(30);
        // Once in some seconds: a runtime may be busy for a while, with compiling or collecting; a wait that costs time never ends.
        double busyMs = 1000;
        for (int time = 0; time < 40 && busyMs >= 100; time++)
        {
            var before = Process.GetCurrentProcess().TotalProcessorTime;
            Thread.Sleep(200);
            busyMs = (Process.GetCurrentProcess().TotalProcessorTime - before).TotalMilliseconds;
        }
        bool waitsOn = !hasWaited;
        end();
        Console.WriteLine(what + ": waits on " + waitsOn + ", quietly " + (busyMs < 100) + ", ended " + thread.Join(Limit) + ", aborted then " + isAborted);
        aborter.Join(Limit);
    }
}
