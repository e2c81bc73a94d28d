// Servers of `./x bench --suite io`. "raw PORT": HTTP over plain sockets with connections that stay open, a thread for each of them.
// "listener PORT": the same answer by HttpListener. The server in Go (main.go) and Java (Server.java) do the same as "raw".
using System;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

static class Server
{
    const int Backlog = 4096;
    const int ListenerThreads = 4;
    static readonly byte[] Body = Encoding.ASCII.GetBytes("Hello, world!\n");
    static readonly byte[] Response = Encoding.ASCII.GetBytes(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + Body.Length + "\r\n\r\nHello, world!\n");

    public static void Raw(int port)
    {
        var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
        listener.Listen(Backlog);
        while (true)
        {
            Socket client = listener.Accept();
            new Thread(() => Serve(client)) { IsBackground = true }.Start();
        }
    }

    static void Serve(Socket client)
    {
        try
        {
            client.NoDelay = true;
            var buffer = new byte[1024];
            int used = 0;
            while (used < buffer.Length)
            {
                int got = client.Receive(buffer, used, buffer.Length - used, SocketFlags.None);
                if (got == 0)
                    return;
                used += got;
                if (EndsRequest(buffer, used))
                {
                    client.Send(Response);
                    used = 0;
                }
            }
        }
        catch (SocketException)
        {
            // The client has gone.
        }
        finally
        {
            client.Close();
        }
    }

    static bool EndsRequest(byte[] buffer, int used)
    {
        return used >= 4 && buffer[used - 4] == '\r' && buffer[used - 3] == '\n' && buffer[used - 2] == '\r' && buffer[used - 1] == '\n';
    }

    public static void Listener(int port)
    {
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
        listener.Start();
        for (int i = 0; i < ListenerThreads; i++)
            new Thread(() => Answer(listener)).Start();
    }

    static void Answer(HttpListener listener)
    {
        while (true)
        {
            try
            {
                HttpListenerContext context = listener.GetContext();
                context.Response.ContentType = "text/plain";
                context.Response.ContentLength64 = Body.Length;
                context.Response.OutputStream.Write(Body, 0, Body.Length);
                context.Response.Close();
            }
            catch (HttpListenerException)
            {
                // The client has gone.
            }
        }
    }
}
