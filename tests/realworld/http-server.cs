// An HTTP server on a free port of the loopback interface; prints its address, ends on /stop.
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;

class Server
{
    static readonly ManualResetEvent stopped = new ManualResetEvent(false);

    static void Main()
    {
        var probe = new TcpListener(IPAddress.Loopback, 0);
        probe.Start();
        int port = ((IPEndPoint)probe.LocalEndpoint).Port;
        probe.Stop();
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
        listener.Start();
        for (int i = 0; i < 4; i++)
            listener.BeginGetContext(Accept, listener);
        Console.WriteLine("http://127.0.0.1:{0}/", port);
        stopped.WaitOne();
        Thread.Sleep(100);
        listener.Stop();
    }

    static void Accept(IAsyncResult result)
    {
        var listener = (HttpListener)result.AsyncState;
        HttpListenerContext context;
        try { context = listener.EndGetContext(result); }
        catch (Exception) { return; }
        listener.BeginGetContext(Accept, listener);
        var body = new byte[0];
        switch (context.Request.Url.AbsolutePath)
        {
            case "/hello":
                body = Encoding.UTF8.GetBytes("Hello, " + context.Request.QueryString["name"] + "!\n");
                context.Response.ContentType = "text/plain; charset=utf-8";
                break;
            case "/echo":
                var copy = new MemoryStream();
                context.Request.InputStream.CopyTo(copy);
                body = copy.ToArray();
                break;
            case "/stop":
                break;
            default:
                context.Response.StatusCode = 404;
                break;
        }
        context.Response.ContentLength64 = body.Length;
        context.Response.OutputStream.Write(body, 0, body.Length);
        context.Response.Close();
        if (context.Request.Url.AbsolutePath == "/stop")
            stopped.Set();
    }
}
