// A server that sends back what it receives: plain blocking code, a thread for each connection. With ten thousand connections run it as
//
//     saki run --threads=mn examples/echo-server.cs 7000
using System;
using System.Net;
using System.Net.Sockets;
using System.Threading;

class EchoServer
{
    static int Main(string[] args)
    {
        int port;
        if (args.Length != 1 || !int.TryParse(args[0], out port))
        {
            Console.Error.WriteLine("usage: echo-server PORT");
            return 2;
        }
        var listener = new TcpListener(IPAddress.Loopback, port);
        listener.Start(1024);
        Console.WriteLine("listening on " + listener.LocalEndpoint);
        while (true)
        {
            TcpClient client = listener.AcceptTcpClient();
            new Thread(() => Serve(client)) { IsBackground = true }.Start();
        }
    }

    static void Serve(TcpClient client)
    {
        using (client)
        {
            try
            {
                NetworkStream stream = client.GetStream();
                var buffer = new byte[4096];
                int count;
                while ((count = stream.Read(buffer, 0, buffer.Length)) > 0)
                    stream.Write(buffer, 0, count);
            }
            catch (System.IO.IOException)
            {
                // The client has gone.
            }
        }
    }
}
