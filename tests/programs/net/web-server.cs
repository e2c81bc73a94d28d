// csc: -aspnet -usings
// host: hostfxr
// timeout: 120
// stress: skip a server under stress takes minutes
// Kestrel over HTTP/1.1, HTTP/2 and TLS, WebSockets, minimal APIs, controllers, static files, streams, compression,
// hosted services and scopes, asked by HttpClient with redirects, cookies, a proxy and decompression.

using System.Net;
using System.Net.Http.Json;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Text.Json;
using System.Net.Security;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Configuration;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.FileProviders;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
static class T {
    public static async Task Run(string name, Func<Task> f) {
    try {
        await f().WaitAsync(TimeSpan.FromSeconds(30));
        Console.WriteLine("= " + name);
    }
    catch (Exception e) { Console.WriteLine(name + ": FAILED " + e); }
    }
}
public record Person(string Name, int Age);
[ApiController, Route("api/[controller]")]
public class ThingsController : ControllerBase {
    readonly Counter c;
    public ThingsController(Counter c) { this.c = c; }
    [HttpGet("{id:int}")] public ActionResult<Person> Get(int id) => id == 0 ? NotFound() : new Person("n" + id, id);
    [HttpPost] public IActionResult Post([FromBody] Person p) => CreatedAtAction(nameof(Get), new { id = p.Age }, p);
    [HttpGet("count")] public int Count() => c.Next();
    [HttpGet("q")] public string Q([FromQuery] string a, [FromQuery] int b = 5, [FromHeader(Name = "X-H")] string h = "none") => $"{a}:{b}:{h}";
}
public class Counter {
    int n;
    public int Next() => Interlocked.Increment(ref n);
}
public class Scoped : IDisposable {
    public static int Made, Gone;
    public int Id = Interlocked.Increment(ref Made);
    public void Dispose() { Interlocked.Increment(ref Gone); }
}
public class Bg : BackgroundService {
    public static int Ticks;
    public static bool Stopped;
    protected override async Task ExecuteAsync(CancellationToken t) { try {
        using var pt = new PeriodicTimer(TimeSpan.FromMilliseconds(10));
        while (await pt.WaitForNextTickAsync(t)) Ticks++;
    } catch (OperationCanceledException) { Stopped = true; } }
}
class P {
    static async Task Main(string[] args) {
        var root = Directory.CreateTempSubdirectory("web-server").FullName;
        File.WriteAllText(root + "/a.txt", "static text\n");
        File.WriteAllText(root + "/index.html", "<p>hi</p>");
        File.WriteAllBytes(root + "/big.bin", Enumerable.Range(0, 300000).Select(i => (byte)(i * 7)).ToArray());
        using var rsa = RSA.Create(2048);
        var req = new CertificateRequest("CN=localhost", rsa, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        var san = new SubjectAlternativeNameBuilder();
        san.AddDnsName("localhost");
        san.AddIpAddress(IPAddress.Loopback);
        req.CertificateExtensions.Add(san.Build());
        using var cert0 = req.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(30));
        using var cert = X509CertificateLoader.LoadPkcs12(cert0.Export(X509ContentType.Pfx, "x"), "x");
        var b = WebApplication.CreateBuilder(new WebApplicationOptions { Args = args, ContentRootPath = root, WebRootPath = root });
        b.Logging.ClearProviders();
        b.Configuration.AddInMemoryCollection(new Dictionary<string, string> { ["A:B"] = "cfg", ["Opt:Name"] = "bound", ["Opt:N"] = "7" });
        b.Services.AddControllers().AddApplicationPart(typeof(P).Assembly);
        b.Services.AddSingleton<Counter>();
        b.Services.AddScoped<Scoped>();
        b.Services.AddHostedService<Bg>();
        b.Services.AddResponseCompression();
        b.WebHost.ConfigureKestrel(k => {
            k.Listen(IPAddress.Loopback, 0, o => o.Protocols = HttpProtocols.Http1);
            k.Listen(IPAddress.Loopback, 0, o => o.Protocols = HttpProtocols.Http2);
            k.Listen(IPAddress.Loopback, 0, o => {
                o.Protocols = HttpProtocols.Http1AndHttp2;
                o.UseHttps(cert);
            });
        });
        var app = b.Build();
        app.UseResponseCompression();
        app.UseWebSockets();
        app.UseDefaultFiles();
        app.UseStaticFiles();
        app.Use(async (c, next) => {
            c.Response.Headers["X-Mw"] = "1";
            await next();
        });
        app.MapGet("/", () => "hello");
        app.MapGet("/json", () => new Person("Ada", 36));
        app.MapPost("/echo", async (HttpRequest r) => {
            using var sr = new StreamReader(r.Body);
            return "got " + (await sr.ReadToEndAsync()).Length;
        });
        app.MapPost("/person", (Person p) => Results.Ok(p with { Age = p.Age + 1 }));
        app.MapGet("/add/{a:int}/{b:int}", (int a, int b, IConfiguration c) => $"{a + b} {c["A:B"]}");
        app.MapGet("/scope", (Scoped s) => s.Id);
        app.MapGet("/throw", (HttpContext c) => { throw new InvalidOperationException("boom"); });
        app.MapGet("/stream", async (HttpContext c) => { for (int i = 0; i < 5; i++) {
            await c.Response.WriteAsync("part" + i + "\n");
            await c.Response.Body.FlushAsync();
            await Task.Delay(5);
        }
        });
        async IAsyncEnumerable<int> Nums() { for (int i = 0; i < 5; i++) {
            await Task.Delay(1);
            yield return i;
        }
        }
        app.MapGet("/never", (CancellationToken t) => Task.Delay(-1, t));
        app.MapGet("/aenum", () => Nums());
        app.MapGet("/redirect", () => Results.Redirect("/"));
        app.MapGet("/cookie", (HttpContext c) => {
            var v = c.Request.Cookies["k"];
            c.Response.Cookies.Append("k", (v ?? "") + "x");
            return "cookie " + v;
        });
        app.MapGet("/sleep", () => {
            Thread.Sleep(50);
            return "slept";
        });
        app.MapGet("/long", () => new string('a', 100000));
        app.MapGet("/proto", (HttpContext c) => c.Request.Protocol + " " + c.Request.Scheme);
        app.Map("/ws", async (HttpContext c) => {
            using var ws = await c.WebSockets.AcceptWebSocketAsync();
            var buf = new byte[70000];
            for (;;) {
                var r = await ws.ReceiveAsync(buf, default);
                if (r.MessageType == WebSocketMessageType.Close) {
                    await ws.CloseAsync(WebSocketCloseStatus.NormalClosure, "bye", default);
                    return;
                }
                await ws.SendAsync(new ArraySegment<byte>(buf, 0, r.Count), r.MessageType, r.EndOfMessage, default);
            }
        });
        app.MapControllers();
        await app.StartAsync();
        var urls = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>().Addresses.ToArray();
        Console.WriteLine(urls.Length);
        var h1 = new HttpClient { BaseAddress = new Uri(urls[0]) };
        await T.Run("hello", async () => Console.WriteLine(await h1.GetStringAsync("/")));
        await T.Run("json", async () => {
            Console.WriteLine(await h1.GetStringAsync("/json"));
            Console.WriteLine(await h1.GetFromJsonAsync<Person>("/json"));
        });
        await T.Run("post", async () => {
            var r = await h1.PostAsync("/echo", new StringContent(new string('x', 500000)));
            Console.WriteLine(await r.Content.ReadAsStringAsync());
            r = await h1.PostAsJsonAsync("/person", new Person("Bob", 4));
            Console.WriteLine(r.StatusCode + " " + await r.Content.ReadAsStringAsync());
        });
        await T.Run("route", async () => {
            Console.WriteLine(await h1.GetStringAsync("/add/3/4"));
            Console.WriteLine((await h1.GetAsync("/add/x/4")).StatusCode);
        });
        await T.Run("scope", async () => {
            for (int i = 0; i < 3; i++) Console.WriteLine(await h1.GetStringAsync("/scope"));
            await Task.Delay(50);
            Console.WriteLine(Scoped.Made + " " + Scoped.Gone);
        });
        await T.Run("throw", async () => Console.WriteLine((await h1.GetAsync("/throw")).StatusCode));
        await T.Run("stream", async () => Console.WriteLine(await h1.GetStringAsync("/stream")));
        await T.Run("aenum", async () => Console.WriteLine(await h1.GetStringAsync("/aenum")));
        await T.Run("redirect", async () => {
            Console.WriteLine(await h1.GetStringAsync("/redirect"));
            using var h = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { BaseAddress = h1.BaseAddress };
            var r = await h.GetAsync("/redirect");
            Console.WriteLine(r.StatusCode + " " + r.Headers.Location);
        });
        await T.Run("cookie", async () => {
            for (int i = 0; i < 3; i++) Console.WriteLine(await h1.GetStringAsync("/cookie"));
        });
        await T.Run("static", async () => {
            Console.Write(await h1.GetStringAsync("/a.txt"));
            Console.WriteLine((await h1.GetByteArrayAsync("/big.bin")).Sum(x => (long)x));
            Console.WriteLine((await h1.GetAsync("/none.txt")).StatusCode);
            var m = new HttpRequestMessage(HttpMethod.Get, "/big.bin");
            m.Headers.Range = new(10, 19);
            var r = await h1.SendAsync(m);
            Console.WriteLine(r.StatusCode + " " + r.Content.Headers.ContentRange + " " + Convert.ToHexString(await r.Content.ReadAsByteArrayAsync()));
        });
        await T.Run("mvc", async () => {
            Console.WriteLine(await h1.GetStringAsync("/api/things/5"));
            Console.WriteLine((await h1.GetAsync("/api/things/0")).StatusCode);
            var r = await h1.PostAsJsonAsync("/api/things", new Person("C", 9));
            Console.WriteLine(r.StatusCode + " " + r.Headers.Location?.AbsolutePath + " " + await r.Content.ReadAsStringAsync());
            Console.WriteLine(await h1.GetStringAsync("/api/things/count"));
            Console.WriteLine(await h1.GetStringAsync("/api/things/q?a=zz&b=6"));
            r = await h1.PostAsync("/api/things", new StringContent("{bad", Encoding.UTF8, "application/json"));
            var s = await r.Content.ReadAsStringAsync();
            Console.WriteLine(r.StatusCode + " " + s.Substring(0, Math.Min(200, s.Length)));
        });
        await T.Run("compress", async () => {
            using var h = new HttpClient(new HttpClientHandler { AutomaticDecompression = DecompressionMethods.None }) { BaseAddress = h1.BaseAddress };
            foreach (var e in new[] { "gzip", "br" }) {
                var m = new HttpRequestMessage(HttpMethod.Get, "/long");
                m.Headers.AcceptEncoding.ParseAdd(e);
                var r = await h.SendAsync(m);
                Console.WriteLine(string.Join(",", r.Content.Headers.ContentEncoding) + " " + ((await r.Content.ReadAsByteArrayAsync()).Length < 1000));
            }
            using var h2 = new HttpClient(new HttpClientHandler { AutomaticDecompression = DecompressionMethods.All }) { BaseAddress = h1.BaseAddress };
            Console.WriteLine((await h2.GetStringAsync("/long")).Length);
        });
        await T.Run("h2c", async () => {
            using var h = new HttpClient { BaseAddress = new Uri(urls[1]), DefaultRequestVersion = HttpVersion.Version20, DefaultVersionPolicy = HttpVersionPolicy.RequestVersionExact };
            Console.WriteLine(await h.GetStringAsync("/proto"));
            var rs = await Task.WhenAll(Enumerable.Range(0, 50).Select(i => h.GetStringAsync("/add/" + i + "/1")));
            Console.WriteLine(string.Join(",", rs.Select(x => x.Split(' ')[0])));
            var r = await h.PostAsync("/echo", new StringContent(new string('y', 500000)));
            Console.WriteLine(await r.Content.ReadAsStringAsync());
            Console.WriteLine(await h.GetStringAsync("/stream"));
        });
        await T.Run("tls", async () => {
            var hd = new SocketsHttpHandler();
            hd.SslOptions.RemoteCertificateValidationCallback = (s, c, ch, e) => {
                Console.WriteLine(c.Subject + " " + e);
                return true;
            };
            using var h = new HttpClient(hd) { BaseAddress = new Uri(urls[2]) };
            Console.WriteLine(await h.GetStringAsync("/proto"));
            h.DefaultRequestHeaders.Add("X-H", "v");
            Console.WriteLine(await h.GetStringAsync("/api/things/q?a=tls"));
            var m = new HttpRequestMessage(HttpMethod.Get, "/proto") { Version = HttpVersion.Version20, VersionPolicy = HttpVersionPolicy.RequestVersionExact };
            Console.WriteLine(await (await h.SendAsync(m)).Content.ReadAsStringAsync());
        });
        await T.Run("tls untrusted", async () => {
            using var h = new HttpClient { BaseAddress = new Uri(urls[2]) };
            try { await h.GetStringAsync("/"); } catch (HttpRequestException e) { Console.WriteLine(e.Message + " / " + e.InnerException?.Message); }
        });
        await T.Run("ws", async () => {
            using var ws = new ClientWebSocket();
            await ws.ConnectAsync(new Uri(urls[0].Replace("http", "ws") + "/ws"), default);
            var buf = new byte[70000];
            foreach (int n in new[] { 5, 200, 66000 }) {
                await ws.SendAsync(Encoding.ASCII.GetBytes(new string('q', n)), WebSocketMessageType.Text, true, default);
                int got = 0;
                for (;;) {
                    var r = await ws.ReceiveAsync(buf, default);
                    got += r.Count;
                    if (r.EndOfMessage) break;
                }
                Console.WriteLine(got);
            }
            await ws.CloseAsync(WebSocketCloseStatus.NormalClosure, "", default);
            Console.WriteLine(ws.State + " " + ws.CloseStatusDescription);
        });
        await T.Run("blocking", async () => {
            var rs = await Task.WhenAll(Enumerable.Range(0, 40).Select(i => h1.GetStringAsync("/sleep")));
            Console.WriteLine(rs.Length);
        });
        await T.Run("proxy", async () => {
            // a proxy: the server itself answers absolute-form requests
            using var h = new HttpClient(new HttpClientHandler { Proxy = new WebProxy(urls[0]), UseProxy = true });
            Console.WriteLine(await h.GetStringAsync("http://example.test/add/1/2"));
        });
        await T.Run("cancel", async () => {
            using var cts = new CancellationTokenSource(1);
            try {
                await h1.GetStringAsync("/never", cts.Token);
                Console.WriteLine("not cancelled");
            } catch (OperationCanceledException) { Console.WriteLine("cancelled"); }
        });
        await T.Run("stop", async () => {
            await app.StopAsync();
            Console.WriteLine((Bg.Ticks > 0) + " " + Bg.Stopped);
            await app.DisposeAsync();
            Directory.Delete(root, true);
        });
    }
}
