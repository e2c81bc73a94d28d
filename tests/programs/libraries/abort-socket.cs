// Thread.Abort ends calls that wait for sockets.
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

static class P
{
    // A call in a thread of its own, which is aborted when it is soon to wait: a thread that is aborted before it begins runs nothing.
    static void Abort(Action call, Action last)
    {
        bool isInside = false;
        var thread = new Thread(() =>
        {
            try
            {
                Volatile.Write(ref isInside, true);
                call();
            }
            catch (ThreadAbortException) { Console.WriteLine("aborted"); }
            finally { last(); }
        });
        thread.Start();
        while (!Volatile.Read(ref isInside))
            Thread.Sleep(1);
        Thread.Sleep(200);
        thread.Abort();
        Console.WriteLine(thread.Join(10000));
    }

    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Abort(() => listener.AcceptTcpClient(), () => Console.WriteLine("finally"));
        var datagrams = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0));
        Abort(() => datagrams.Client.Poll(-1, SelectMode.SelectRead), () => { });
        var client = new TcpClient();
        client.Connect((IPEndPoint)listener.LocalEndpoint);
        Console.WriteLine(listener.AcceptTcpClient().Connected);
    }
}
