// io: each
// mcs: -r:System.Net.Http
// HttpListener with its clients: HttpWebRequest by threads and by callbacks, HttpClient with tasks, tokens and timeouts, connections that are kept, and peers that break off.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

class Http
{
    const int Limit = 20000;
    static string address;
    static HttpListener listener;
    static readonly ManualResetEvent stalled = new ManualResetEvent(false);

    static void Main()
    {
        ServicePointManager.DefaultConnectionLimit = 64;
        Start();
        var server = new Thread(Serve);
        server.Start();
        Requests();
        Callbacks();
        Clients().Wait();
        Uploads();
        Timeouts().Wait();
        BrokenOff();
        stalled.Set();
        listener.Stop();
        Console.WriteLine("stopped: " + server.Join(Limit));
        Contexts().Wait();
    }

    static void Start()
    {
        for (int attempt = 0; ; attempt++)
        {
            var probe = new TcpListener(IPAddress.Loopback, 0);
            probe.Start();
            int port = ((IPEndPoint)probe.LocalEndpoint).Port;
            probe.Stop();
            address = "http://127.0.0.1:" + port + "/";
            listener = new HttpListener();
            listener.Prefixes.Add(address);
            try
            {
                listener.Start();
                return;
            }
            catch (Exception) when (attempt < 10)
            {
                // Somebody else has taken the port.
            }
        }
    }

    static void Serve()
    {
        try
        {
            for (;;)
            {
                var context = listener.GetContext();
                ThreadPool.QueueUserWorkItem(o =>
                {
                    try
                    {
                        Answer(context);
                    }
                    catch (Exception)
                    {
                        // The client has broken off.
                        context.Response.Abort();
                    }
                });
            }
        }
        catch (Exception e) when (e is HttpListenerException || e is ObjectDisposedException || e is InvalidOperationException)
        {
        }
    }

    static void Answer(HttpListenerContext context)
    {
        string path = context.Request.Url.AbsolutePath;
        if (path == "/stall")
            stalled.WaitOne(Limit);
        if (path == "/missing")
            context.Response.StatusCode = 404;
        byte[] body = path == "/large" ? new byte[1 << 20] : Encoding.UTF8.GetBytes("you asked for " + path);
        if (context.Request.HttpMethod == "POST")
        {
            long length = 0;
            var buffer = new byte[10000];
            int count;
            while ((count = context.Request.InputStream.Read(buffer, 0, buffer.Length)) > 0)
                length += count;
            body = Encoding.UTF8.GetBytes("you sent " + length);
        }
        context.Response.ContentLength64 = body.Length;
        context.Response.OutputStream.Write(body, 0, body.Length);
        context.Response.Close();
    }

    static string Get(string path)
    {
        var request = (HttpWebRequest)WebRequest.Create(address + path);
        using (var response = request.GetResponse())
        using (var reader = new StreamReader(response.GetResponseStream()))
            return reader.ReadToEnd();
    }

    static void Requests()
    {
        Console.WriteLine(Get("one"));
        int right = 0;
        var threads = Enumerable.Range(0, 10).Select(i => new Thread(() =>
        {
            for (int n = 0; n < 5; n++)
                if (Get("t" + i + "/" + n) == "you asked for /t" + i + "/" + n)
                    Interlocked.Increment(ref right);
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("by threads: " + right);
        try
        {
            Get("missing");
        }
        catch (WebException e)
        {
            Console.WriteLine("missing: " + (int)((HttpWebResponse)e.Response).StatusCode);
        }
    }

    static void Callbacks()
    {
        int right = 0;
        var all = new CountdownEvent(20);
        for (int i = 0; i < 20; i++)
        {
            string path = "callback" + i;
            var request = (HttpWebRequest)WebRequest.Create(address + path);
            request.BeginGetResponse(begun =>
            {
                using (var response = request.EndGetResponse(begun))
                using (var reader = new StreamReader(response.GetResponseStream()))
                    if (reader.ReadToEnd() == "you asked for /" + path)
                        Interlocked.Increment(ref right);
                all.Signal();
            }, null);
        }
        Console.WriteLine("by callbacks: " + all.Wait(Limit) + " " + right);
    }

    static async Task Clients()
    {
        using (var client = new HttpClient())
        {
            var texts = await Task.WhenAll(Enumerable.Range(0, 20).Select(i => client.GetStringAsync(address + "task" + i)));
            Console.WriteLine("by tasks: " + texts.Where((text, i) => text == "you asked for /task" + i).Count());
            Console.WriteLine("large: " + (await client.GetByteArrayAsync(address + "large")).Length);
            var answer = await client.PostAsync(address + "post", new ByteArrayContent(new byte[300000]));
            Console.WriteLine(await answer.Content.ReadAsStringAsync());
        }
    }

    static void Uploads()
    {
        var request = (HttpWebRequest)WebRequest.Create(address + "upload");
        request.Method = "POST";
        request.SendChunked = true;
        using (var stream = request.GetRequestStream())
            for (int i = 0; i < 50; i++)
                stream.Write(new byte[1000], 0, 1000);
        using (var response = request.GetResponse())
        using (var reader = new StreamReader(response.GetResponseStream()))
            Console.WriteLine(reader.ReadToEnd());
    }

    static async Task Timeouts()
    {
        var request = (HttpWebRequest)WebRequest.Create(address + "stall");
        request.Timeout = 100;
        try
        {
            request.GetResponse();
        }
        catch (WebException e)
        {
            Console.WriteLine("stalled request: " + e.Status);
        }
        using (var client = new HttpClient())
        using (var source = new CancellationTokenSource(100))
        {
            try
            {
                await client.GetAsync(address + "stall", source.Token);
            }
            catch (OperationCanceledException)
            {
                Console.WriteLine("stalled client: cancelled");
            }
        }
    }

    // Clients that go away in the middle of a request or of an answer do the others no harm.
    static void BrokenOff()
    {
        var uri = new Uri(address);
        for (int i = 0; i < 10; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            socket.Connect(IPAddress.Loopback, uri.Port);
            string text = i % 2 == 0 ? "POST /x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\nabc" : "GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
            socket.Send(Encoding.ASCII.GetBytes(text));
            if (i % 2 != 0)
                socket.Receive(new byte[10]);
            if (i % 3 == 0)
                socket.LingerState = new LingerOption(true, 0);
            socket.Close();
        }
        Console.WriteLine("after broken ones: " + Get("still"));
    }

    // A server of tasks.
    static async Task Contexts()
    {
        Start();
        var serving = Task.Run(async () =>
        {
            for (int i = 0; i < 10; i++)
            {
                var context = await listener.GetContextAsync();
                var text = Encoding.UTF8.GetBytes("answer " + context.Request.QueryString["n"]);
                await context.Response.OutputStream.WriteAsync(text, 0, text.Length);
                context.Response.Close();
            }
        });
        using (var client = new HttpClient())
        {
            int right = 0;
            for (int i = 0; i < 10; i++)
                if (await client.GetStringAsync(address + "?n=" + i) == "answer " + i)
                    right++;
            await serving;
            Console.WriteLine("contexts: " + right);
        }
        listener.Close();
    }
}
