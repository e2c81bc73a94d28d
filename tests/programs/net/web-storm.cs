// csc: -aspnet -usings
// host: hostfxr
// timeout: 120
// env: SAKI_NURSERY=1m
// stress: skip a server under stress takes minutes
// A server of a hundred endpoints under connections that behave, read slowly, end in the middle, send half and reset.
// All answers are checked, no request stays behind, and memory comes back. CONNECTIONS and SECONDS make a storm of it:
// ./x stress.

using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

int connections = args.Length > 0 ? int.Parse(args[0]) : 200;
double seconds = args.Length > 1 ? double.Parse(args[1]) : 2;

int inside = 0;
long aborted = 0;
var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.UseUrls("http://127.0.0.1:0");
// Beyond the listener's queue the system resets connections.
builder.WebHost.UseSockets(options => options.Backlog = 4096);
builder.WebHost.ConfigureKestrel(options => options.Limits.MinRequestBodyDataRate = options.Limits.MinResponseDataRate = null);
var app = builder.Build();
app.Use(async (context, next) =>
{
    Interlocked.Increment(ref inside);
    try { await next(context); }
    catch (Exception e) when (context.RequestAborted.IsCancellationRequested || e is BadHttpRequestException or IOException) { Interlocked.Increment(ref aborted); }
    finally { Interlocked.Decrement(ref inside); }
});
for (int i = 0; i < 100; i++)
{
    int number = i;
    string path = "/e" + i;
    switch (i % 8)
    {
        case 0: app.MapGet(path, () => $"text {number}"); break;
        case 1: app.MapGet(path, () => new Answer(number, Storm.Text(number, 300))); break;
        case 2: app.MapPost(path, async (HttpRequest request) => Storm.Sum(await Storm.ReadAll(request.Body)) + number); break;
        case 3: app.MapGet(path, () => { Thread.Sleep(5); return $"blocked {number}"; }); break;
        case 4: app.MapGet(path, async () => { await Task.Delay(5); return $"awaited {number}"; }); break;
        case 5:
            app.MapGet(path, async (HttpResponse response, CancellationToken cancel) =>
            {
                for (int part = 0; part < 40; part++)
                {
                    await response.WriteAsync(Storm.Text(number + part, 4000), cancel);
                    if (part % 10 == 0)
                        await response.Body.FlushAsync(cancel);
                }
            });
            break;
        case 6: app.MapGet(path, string (HttpContext context) => { context.Response.StatusCode = 418; return $"teapot {number}"; }); break;
        case 7: app.MapPost(path, (Answer answer) => answer with { Number = answer.Number + number }); break;
    }
}
await app.StartAsync();
var address = new Uri(app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.First());
var end = new IPEndPoint(IPAddress.Loopback, address.Port);

var storm = new Storm(end, seconds);
await storm.Run(Math.Min(connections, 20), 0.2);
long before = Storm.Live();
await storm.Run(connections, seconds);
for (int i = 0; i < 500 && Volatile.Read(ref inside) > 0; i++)
    await Task.Delay(20);
Console.WriteLine("requests inside: " + inside);
Console.WriteLine("wrong answers: " + storm.Wrong);
Console.WriteLine("each kind came: " + storm.Counts.All(count => count > 0));
bool isBack = false;
for (int i = 0; i < 20 && !isBack; i++)
{
    isBack = Storm.Live() < before + (32 << 20);
    if (!isBack)
        await Task.Delay(500);
}
Console.WriteLine("memory is back: " + isBack);
await app.StopAsync();
Console.WriteLine("stopped");
if (args.Length > 1)
    Console.Error.WriteLine($"{string.Join(" ", storm.Counts)}, {aborted} aborted inside, {before >> 10} and {Storm.Live() >> 10} KiB");

record Answer(int Number, string Text);

class Storm(IPEndPoint end, double seconds)
{
    public long Wrong;
    // Whole answers, slow readers, requests that end in the middle, half-closed connections, resets.
    public readonly long[] Counts = new long[5];

    public static string Text(int seed, int length) => string.Create(length, seed, (span, s) => { for (int i = 0; i < span.Length; i++) span[i] = (char)('a' + (s + i * 7) % 26); });
    public static int Sum(byte[] bytes) => bytes.Aggregate(17, (sum, b) => unchecked(sum * 31 + b));

    public static async Task<byte[]> ReadAll(Stream stream)
    {
        var all = new MemoryStream();
        await stream.CopyToAsync(all);
        return all.ToArray();
    }

    public static long Live()
    {
        long least = long.MaxValue;
        for (int i = 0; i < 5; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            least = Math.Min(least, GC.GetTotalMemory(true));
        }
        return least;
    }

    public Task Run(int connections, double time)
    {
        long until = Environment.TickCount64 + (long)(time * 1000);
        return Task.WhenAll(Enumerable.Range(0, connections).Select(n => Task.Run(() => Client(n, until))));
    }

    async Task Client(int number, long until)
    {
        var random = new Random(number);
        do
        {
            using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            await Connect(socket);
            int kind = random.Next(12) switch { 0 => 1, 1 => 2, 2 => 3, 3 => 4, _ => 0 };
            try
            {
                for (int i = 0; i < 8 && (kind > 0 ? i == 0 : Environment.TickCount64 < until || i == 0); i++)
                    await Ask(socket, random, kind);
                Interlocked.Increment(ref Counts[kind]);
            }
            catch (Exception e) when (kind == 3 && e is EndOfStreamException or SocketException { SocketErrorCode: SocketError.ConnectionReset })
            {
                // Kestrel takes the end of the requests for the connection's, unless the answer is there already.
                Interlocked.Increment(ref Counts[kind]);
            }
            catch (Exception e)
            {
                if (Interlocked.Increment(ref Wrong) <= 3)
                    Console.WriteLine($"kind {kind}: {e.GetType().Name}: {e.Message}");
            }
        } while (Environment.TickCount64 < until);
    }

    // The queue of a listener is short, and ports in use run out for moments.
    async Task Connect(Socket socket)
    {
        for (int i = 0; ; i++)
        {
            try { await socket.ConnectAsync(end); return; }
            catch (SocketException) when (i < 200) { await Task.Delay(20); }
        }
    }

    async Task Ask(Socket socket, Random random, int kind)
    {
        int number = random.Next(100);
        (byte[] request, int status, Func<string, bool> check) = Request(number, random);
        switch (kind)
        {
            case 2: // ends in the middle of the request
                await socket.SendAsync(request.AsMemory(0, random.Next(request.Length)));
                return;
            case 4: // resets while the answer comes
                await socket.SendAsync(request);
                if (random.Next(2) == 0)
                    await socket.ReceiveAsync(new byte[64]);
                socket.LingerState = new LingerOption(true, 0);
                return;
        }
        foreach (var (start, length) in Pieces(request.Length, random))
            await socket.SendAsync(request.AsMemory(start, length));
        if (kind == 3)
            socket.Shutdown(SocketShutdown.Send);
        (int got, string body) = await Receive(socket, slowly: kind == 1);
        if (got != status || !check(body))
            throw new InvalidDataException($"/e{number}: {got} {body.Length} {body[..Math.Min(body.Length, 60)]}");
    }

    static IEnumerable<(int, int)> Pieces(int length, Random random)
    {
        int cut = random.Next(4) == 0 ? random.Next(1, length) : length;
        yield return (0, cut);
        if (cut < length)
            yield return (cut, length - cut);
    }

    static (byte[], int, Func<string, bool>) Request(int number, Random random)
    {
        (byte[], int, Func<string, bool>) Get(int status, Func<string, bool> check) =>
            (Encoding.ASCII.GetBytes($"GET /e{number} HTTP/1.1\r\nHost: storm\r\n\r\n"), status, check);
        (byte[], int, Func<string, bool>) Post(byte[] body, string type, Func<string, bool> check) =>
            (Encoding.ASCII.GetBytes($"POST /e{number} HTTP/1.1\r\nHost: storm\r\nContent-Type: {type}\r\nContent-Length: {body.Length}\r\n\r\n").Concat(body).ToArray(), 200, check);
        switch (number % 8)
        {
            case 0: return Get(200, body => body == $"text {number}");
            case 1: return Get(200, body => JsonSerializer.Deserialize<Answer>(body, JsonSerializerOptions.Web) == new Answer(number, Text(number, 300)));
            case 2:
                var bytes = new byte[random.Next(20000)];
                random.NextBytes(bytes);
                int sum = Sum(bytes) + number;
                return Post(bytes, "application/octet-stream", body => body == sum.ToString());
            case 3: return Get(200, body => body == $"blocked {number}");
            case 4: return Get(200, body => body == $"awaited {number}");
            case 5: return Get(200, body => body.Length == 160000 && body[^1] == Text(number + 39, 4000)[^1]);
            case 6: return Get(418, body => body == $"teapot {number}");
            default:
                var answer = new Answer(random.Next(1000), Text(number, 50));
                return Post(JsonSerializer.SerializeToUtf8Bytes(answer), "application/json",
                    body => JsonSerializer.Deserialize<Answer>(body, JsonSerializerOptions.Web) == answer with { Number = answer.Number + number });
        }
    }

    // One answer, with a length or in chunks.
    static async Task<(int, string)> Receive(Socket socket, bool slowly)
    {
        var buffer = new byte[slowly ? 2000 : 16384];
        var all = new MemoryStream();
        while (true)
        {
            string text = Encoding.Latin1.GetString(all.GetBuffer(), 0, (int)all.Length);
            int head = text.IndexOf("\r\n\r\n");
            if (head >= 0)
            {
                int status = int.Parse(text.Substring(9, 3));
                string rest = text[(head + 4)..];
                int at = text.IndexOf("Content-Length: ", 0, head);
                if (at >= 0)
                {
                    int length = int.Parse(text[(at + 16)..text.IndexOf('\r', at)]);
                    if (rest.Length >= length)
                        return (status, rest[..length]);
                }
                else if (rest.EndsWith("0\r\n\r\n"))
                    return (status, Join(rest));
            }
            if (slowly && all.Length < 20000)
                await Task.Delay(5);
            int got = await socket.ReceiveAsync(buffer);
            if (got == 0)
                throw new EndOfStreamException("after " + all.Length);
            all.Write(buffer, 0, got);
        }
    }

    static string Join(string chunks)
    {
        var body = new StringBuilder();
        for (int at = 0; ;)
        {
            int line = chunks.IndexOf("\r\n", at);
            int length = Convert.ToInt32(chunks[at..line], 16);
            if (length == 0)
                return body.ToString();
            body.Append(chunks, line + 2, length);
            at = line + 2 + length + 2;
        }
    }
}
