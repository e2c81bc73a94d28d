// A socket that Socket.DuplicateAndClose gave away goes on where SocketInformation is made a socket again.
using System;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

static class Program
{
    static void Main()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        client.Connect(listener.LocalEndpoint);
        var server = listener.AcceptSocket();

        SocketInformation given = client.DuplicateAndClose(Process.GetCurrentProcess().Id);
        Console.WriteLine(given.Options);
        client = null;
        GC.Collect();
        GC.WaitForPendingFinalizers();
        var taken = new Socket(given);
        Console.WriteLine("{0} {1}", taken.Connected, taken.SocketType);
        taken.Send(new byte[] { 1, 2, 3 });
        Console.WriteLine(server.Receive(new byte[10]));
        taken.Close();
        Console.WriteLine(server.Receive(new byte[10]));
    }
}
