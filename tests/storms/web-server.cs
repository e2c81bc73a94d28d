// The server of the storm of connections (`./x stress`; web-client.cs is the client and starts it): a hundred endpoints of ASP.NET Core
// on Kestrel. It obeys its standard input: "figures" collects and tells what the process still holds, "stop" ends it.

using System.Security.Cryptography;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.FileProviders;
using Microsoft.Extensions.Logging;

record Answer(int Number, string Text);

/// Bytes that both sides know: any window of them tells its place.
static class Pattern
{
    public const int Size = 1 << 21;
    public static readonly byte[] Bytes = Make();

    static byte[] Make()
    {
        var bytes = new byte[Size];
        uint state = 2463534242;
        for (int i = 0; i < Size; i++)
        {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            bytes[i] = (byte)('a' + state % 26);
        }
        return bytes;
    }

    public static string Text(int at, int length) => System.Text.Encoding.ASCII.GetString(Bytes, at, length);

    public static ulong Sum(ulong sum, ReadOnlySpan<byte> bytes)
    {
        foreach (byte b in bytes)
            sum = (sum ^ b) * 1099511628211;
        return sum;
    }
}

static class Endpoints
{
    public const int Count = 100;
    // What an endpoint does is its number modulo this.
    public const int Kinds = 13;
    public const int FileLength = 300_000;
    public const string FileName = "pattern.txt";
}

static class Server
{
    const int LeastWorkers = 500;
    static int inside, connections;
    static long started, served, broken;
    // Answers that ended by an exception though nobody broke the connection.
    static long failed;

    public static async Task Run()
    {
        // Some handlers block, those that write to slow readers for seconds: without this the pool would add threads by and by, and the storm would wait for it.
        ThreadPool.GetMinThreads(out int workers, out int ports);
        ThreadPool.SetMinThreads(Math.Max(workers, LeastWorkers), ports);
        string folder = Directory.CreateTempSubdirectory("web-storm").FullName;
        File.WriteAllBytes(Path.Combine(folder, Endpoints.FileName), Pattern.Bytes[..Endpoints.FileLength]);
        var builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseSockets(options => options.Backlog = 4096);
        builder.WebHost.ConfigureKestrel(options =>
        {
            // Slow readers and writers are wanted.
            options.Limits.MinRequestBodyDataRate = options.Limits.MinResponseDataRate = null;
            // No connection ends because the machine does other work.
            options.Limits.KeepAliveTimeout = options.Limits.RequestHeadersTimeout = TimeSpan.FromHours(1);
            options.ListenAnyIP(0, listen => listen.Use(next => async connection =>
            {
                Interlocked.Increment(ref connections);
                try { await next(connection); }
                finally { Interlocked.Decrement(ref connections); }
            }));
        });
        var app = builder.Build();
        app.Use(Count);
        app.UseWebSockets();
        app.UseStaticFiles(new StaticFileOptions { FileProvider = new PhysicalFileProvider(folder), RequestPath = "/files" });
        for (int number = 0; number < Endpoints.Count; number++)
            Map(app, number);
        await app.StartAsync();
        string address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First();
        Console.WriteLine("port " + address[(address.LastIndexOf(':') + 1)..]);
        while (await Console.In.ReadLineAsync() is string line && line != "stop")
            Console.WriteLine(Figures());
        await app.StopAsync();
        Directory.Delete(folder, true);
        Console.WriteLine("stopped");
    }

    static async Task Count(HttpContext context, Func<Task> next)
    {
        Interlocked.Increment(ref inside);
        Interlocked.Increment(ref started);
        try
        {
            await next();
            Interlocked.Increment(ref served);
        }
        catch (InvalidOperationException e) when (e.Message.StartsWith("endpoint "))
        {
            context.Response.StatusCode = 500;
            await context.Response.WriteAsync(e.Message);
            Interlocked.Increment(ref served);
        }
        catch (Exception e)
        {
            bool isBroken = context.RequestAborted.IsCancellationRequested || e is BadHttpRequestException or IOException or OperationCanceledException or
                System.Net.WebSockets.WebSocketException or Microsoft.AspNetCore.Connections.ConnectionAbortedException or
                Microsoft.AspNetCore.Connections.ConnectionResetException;
            if (!isBroken && Interlocked.Increment(ref failed) <= 5)
                Console.Error.WriteLine($"server: {context.Request.Path}: {e}");
            if (isBroken)
                Interlocked.Increment(ref broken);
            context.Abort();
        }
        finally { Interlocked.Decrement(ref inside); }
    }

    static void Map(WebApplication app, int number)
    {
        string path = "/e" + number;
        switch (number % Endpoints.Kinds)
        {
            case 0: app.MapGet(path, () => $"text {number}"); break;
            case 1: app.MapGet(path, (int at) => new Answer(number, Pattern.Text(at, 300))); break;
            case 2:
                app.MapPost(path, async (HttpRequest request) =>
                {
                    var buffer = new byte[5000];
                    ulong sum = (ulong)number;
                    for (int got; (got = await request.Body.ReadAsync(buffer)) > 0;)
                        sum = Pattern.Sum(sum, buffer.AsSpan(0, got));
                    return sum.ToString();
                });
                break;
            case 3: app.MapGet(path, () => { Thread.Sleep(5); return $"blocked {number}"; }); break;
            case 4: app.MapGet(path, async () => { await Task.Delay(5); return $"awaited {number}"; }); break;
            case 5:
                app.MapGet(path, async (HttpResponse response, int at, int length, CancellationToken cancel) =>
                {
                    for (int done = 0; done < length; done += 4000)
                    {
                        await response.Body.WriteAsync(Pattern.Bytes.AsMemory(at + done, Math.Min(4000, length - done)), cancel);
                        if (done % 20000 == 0)
                            await response.Body.FlushAsync(cancel);
                    }
                });
                break;
            case 6: app.MapGet(path, string () => throw new InvalidOperationException($"endpoint {number} throws")); break;
            case 7: app.MapPost(path, (Answer answer) => answer with { Number = answer.Number + number }); break;
            case 8:
                app.MapGet(path, async (HttpContext context) =>
                {
                    if (!context.WebSockets.IsWebSocketRequest)
                        return Results.BadRequest();
                    using var socket = await context.WebSockets.AcceptWebSocketAsync();
                    var buffer = new byte[4096];
                    while (true)
                    {
                        var got = await socket.ReceiveAsync(buffer.AsMemory(), context.RequestAborted);
                        if (got.MessageType == System.Net.WebSockets.WebSocketMessageType.Close)
                            break;
                        await socket.SendAsync(buffer.AsMemory(0, got.Count), got.MessageType, got.EndOfMessage, context.RequestAborted);
                    }
                    await socket.CloseOutputAsync(System.Net.WebSockets.WebSocketCloseStatus.NormalClosure, null, context.RequestAborted);
                    return Results.Empty;
                });
                break;
            case 9:
                // The body goes back while it comes.
                app.MapPost(path, async (HttpContext context) =>
                {
                    context.Response.ContentLength = context.Request.ContentLength;
                    await context.Request.Body.CopyToAsync(context.Response.Body, context.RequestAborted);
                });
                break;
            case 10:
                app.MapPost(path, async (HttpRequest request) => Convert.ToHexString(await SHA256.HashDataAsync(request.Body)));
                break;
            case 11:
                // Waits for another thread of the pool, as synchronous code over an asynchronous library does.
                app.MapGet(path, (int at) => Task.Run(async () => { await Task.Yield(); return Pattern.Text(at, 50); }).Result);
                break;
            case 12:
                // A synchronous body, whose writes block while the reader is slow.
                app.MapGet(path, (HttpContext context, int at, int length) =>
                {
                    context.Features.Get<IHttpBodyControlFeature>()!.AllowSynchronousIO = true;
                    context.Response.ContentLength = length;
                    for (int done = 0; done < length; done += 8000)
                        context.Response.Body.Write(Pattern.Bytes, at + done, Math.Min(8000, length - done));
                    return Results.Empty;
                });
                break;
        }
    }

    // One line of names and numbers.
    static string Figures()
    {
        long live = long.MaxValue;
        for (int i = 0; i < 4; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            live = Math.Min(live, GC.GetTotalMemory(true));
        }
        long Status(string key)
        {
            string line = File.ReadLines("/proc/self/status").First(line => line.StartsWith(key + ":"));
            return long.Parse(line[(key.Length + 1)..].Replace("kB", "").Trim());
        }
        var links = Directory.GetFiles("/proc/self/fd").Select(file => new FileInfo(file).LinkTarget ?? "").ToArray();
        int sockets = links.Count(link => link.StartsWith("socket:"));
        return $"figures live={live >> 10} resident={Status("VmRSS")} sockets={sockets} descriptors={links.Length} threads={Status("Threads")} " +
            $"pool={ThreadPool.ThreadCount} connections={connections} inside={inside} started={started} served={served} broken={broken} failed={failed} " +
            $"full-collections={GC.CollectionCount(2)}";
    }
}
