// io: each
// HttpClient, blocking and asynchronous, against an HttpListener and against a server of plain sockets with a thread for each connection: connections that are kept, bodies
// in pieces, slow answers, timeouts, cancellations, and a server that breaks off.
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

static class Program
{
    static async Task Main()
    {
        await Listener();
        await PlainSockets();
    }

    static HttpListener Start(out string address)
    {
        for (int port = 20000 + Environment.ProcessId % 20000; ; port++)
        {
            var listener = new HttpListener();
            address = $"http://localhost:{port}/";
            listener.Prefixes.Add(address);
            try { listener.Start(); return listener; }
            catch (HttpListenerException) { }
        }
    }

    static async Task Listener()
    {
        HttpListener listener = Start(out string address);
        Task server = Task.Run(async () =>
        {
            while (true)
            {
                HttpListenerContext context;
                try { context = await listener.GetContextAsync(); }
                catch (Exception e) when (e is HttpListenerException or ObjectDisposedException) { return; }
                _ = Task.Run(() =>
                {
                    // Blocking code on purpose.
                    Thread.Sleep(5);
                    using var reader = new StreamReader(context.Request.InputStream);
                    byte[] body = Encoding.UTF8.GetBytes($"{context.Request.HttpMethod} {context.Request.Url.PathAndQuery} {reader.ReadToEnd().Length}");
                    context.Response.StatusCode = context.Request.Url.AbsolutePath == "/missing" ? 404 : 200;
                    context.Response.OutputStream.Write(body);
                    context.Response.Close();
                });
            }
        });
        using (var client = new HttpClient { BaseAddress = new Uri(address) })
        {
            Console.WriteLine(await client.GetStringAsync("/one?two=3"));
            Console.WriteLine(await (await client.PostAsync("/post", new StringContent(new string('x', 100_000)))).Content.ReadAsStringAsync());
            using (HttpResponseMessage missing = client.Send(new HttpRequestMessage(HttpMethod.Get, "/missing")))
                Console.WriteLine($"{(int)missing.StatusCode} {new StreamReader(missing.Content.ReadAsStream()).ReadToEnd()}");
            string[] all = await Task.WhenAll(Enumerable.Range(0, 100).Select(i => client.GetStringAsync("/" + i)));
            Console.WriteLine(all.Select((text, i) => text == $"GET /{i} 0").Count(right => right));
            int right = 0;
            var threads = Enumerable.Range(0, 40).Select(i => new Thread(() =>
            {
                using HttpResponseMessage answer = client.Send(new HttpRequestMessage(HttpMethod.Get, "/thread/" + i));
                if (new StreamReader(answer.Content.ReadAsStream()).ReadToEnd() == $"GET /thread/{i} 0")
                    Interlocked.Increment(ref right);
            })).ToList();
            threads.ForEach(thread => thread.Start());
            threads.ForEach(thread => thread.Join());
            Console.WriteLine(right);
        }
        listener.Stop();
        await server;
    }

    static async Task PlainSockets()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var accepting = new Thread(() =>
        {
            try
            {
                while (true)
                {
                    TcpClient connection = listener.AcceptTcpClient();
                    new Thread(() => Serve(connection)).Start();
                }
            }
            catch (SocketException) { }
        });
        accepting.Start();
        string address = $"http://127.0.0.1:{((IPEndPoint)listener.LocalEndpoint).Port}";
        using (var client = new HttpClient())
        {
            string[] all = await Task.WhenAll(Enumerable.Range(0, 50).Select(i => client.GetStringAsync($"{address}/echo/{i}")));
            Console.WriteLine(all.Select((text, i) => text == $"/echo/{i}").Count(right => right));
            Console.WriteLine(await client.GetStringAsync(address + "/pieces"));
            try { await client.GetStringAsync(address + "/broken"); }
            catch (HttpRequestException e) { Console.WriteLine("broken " + e.HttpRequestError); }
            using var cancel = new CancellationTokenSource(100);
            try { await client.GetStringAsync(address + "/slow", cancel.Token); }
            catch (OperationCanceledException) { Console.WriteLine("cancelled"); }
        }
        using (var client = new HttpClient { Timeout = TimeSpan.FromMilliseconds(100) })
        {
            try { await client.GetStringAsync(address + "/slow"); }
            catch (TaskCanceledException e) { Console.WriteLine(e.InnerException?.GetType().Name); }
        }
        listener.Stop();
        accepting.Join();
        try { using var client = new HttpClient(); await client.GetStringAsync(address); }
        catch (HttpRequestException e) { Console.WriteLine(e.HttpRequestError); }
    }

    static void Serve(TcpClient connection)
    {
        try
        {
            using (connection)
            using (NetworkStream stream = connection.GetStream())
            {
                var reader = new StreamReader(stream, Encoding.ASCII);
                for (string request; (request = reader.ReadLine()) != null;)
                {
                    while (reader.ReadLine() is { Length: > 0 }) { }
                    string path = request.Split(' ')[1];
                    if (path == "/broken")
                    {
                        stream.Write(Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nless"));
                        return;
                    }
                    // Slower than the client waits: until it has gone.
                    if (path == "/slow")
                        reader.Read();
                    if (path == "/pieces")
                    {
                        stream.Write(Encoding.ASCII.GetBytes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"));
                        foreach (string piece in new[] { "in ", "several ", "pieces" })
                        {
                            Thread.Sleep(10);
                            stream.Write(Encoding.ASCII.GetBytes($"{piece.Length:x}\r\n{piece}\r\n"));
                        }
                        stream.Write(Encoding.ASCII.GetBytes("0\r\n\r\n"));
                        continue;
                    }
                    stream.Write(Encoding.ASCII.GetBytes($"HTTP/1.1 200 OK\r\nContent-Length: {path.Length}\r\n\r\n{path}"));
                }
            }
        }
        catch (IOException) { }
    }
}
