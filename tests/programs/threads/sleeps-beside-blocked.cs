// env: SAKI_IO=blocking
// Threads in system calls that block keep no timer of another thread from being seen.
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class SleepsBesideBlocked
{
    static void Main()
    {
        for (int round = 0; round < 40; round++)
        {
            var listener = new TcpListener(IPAddress.Loopback, 0);
            listener.Start();
            var other = new TcpClient();
            other.Connect((IPEndPoint)listener.LocalEndpoint);
            var client = listener.AcceptTcpClient();
            var threads = new[] { new Thread(() => Ignore(() => client.GetStream().ReadByte())), new Thread(() => Ignore(() => listener.AcceptSocket())) };
            foreach (var thread in threads)
                thread.Start();
            Thread.Sleep(round % 4);
            Thread.Sleep(2);
            client.Close();
            listener.Stop();
            foreach (var thread in threads)
                thread.Join();
            other.Close();
        }
        Console.WriteLine("done");
    }

    static void Ignore(Action action)
    {
        try
        {
            action();
        }
        catch (Exception)
        {
        }
    }
}
