// A small HTTP/1.1 server with connections that stay open: plain blocking code, a thread for each connection. With ten thousand connections run it as
//
//     saki run --threads=mn examples/http-server.cs 8080
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

class HttpServer
{
    static int Main(string[] args)
    {
        int port;
        if (args.Length != 1 || !int.TryParse(args[0], out port))
        {
            Console.Error.WriteLine("usage: http-server PORT");
            return 2;
        }
        var listener = new TcpListener(IPAddress.Loopback, port);
        listener.Start(1024);
        Console.WriteLine("http://" + listener.LocalEndpoint + "/");
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
                client.NoDelay = true;
                var stream = new BufferedStream(client.GetStream(), 4096);
                while (ReadRequest(stream))
                {
                    byte[] body = Encoding.UTF8.GetBytes("Hello from thread " + Thread.CurrentThread.ManagedThreadId + "\n");
                    string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + body.Length + "\r\n\r\n";
                    byte[] bytes = Encoding.ASCII.GetBytes(head);
                    stream.Write(bytes, 0, bytes.Length);
                    stream.Write(body, 0, body.Length);
                    stream.Flush();
                }
            }
            catch (IOException)
            {
                // The client has gone.
            }
        }
    }

    // Reads up to the empty line. False: the client sends no more.
    static bool ReadRequest(Stream stream)
    {
        int matched = 0, next;
        while ((next = stream.ReadByte()) >= 0)
        {
            matched = next == "\r\n\r\n"[matched] ? matched + 1 : next == '\r' ? 1 : 0;
            if (matched == 4)
                return true;
        }
        return false;
    }
}
