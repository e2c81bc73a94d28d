// csc: -aspnet -usings
// host: hostfxr
// timeout: 120
// stress: skip a server under stress takes minutes
// An application of ASP.NET Core: options from configuration, controllers with forms and filters, authentication and
// authorization, sessions, output caching, rate limits, problem details, health checks, Razor components,
// endpoint filters, typed clients, CORS, a Unix socket, SignalR, data protection, logging.

using System.Net;
using System.Net.Http.Json;
using System.Text;
using System.Security.Claims;
using System.Threading.RateLimiting;
using System.Threading.Channels;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authorization;
using Microsoft.AspNetCore.DataProtection;
using Microsoft.AspNetCore.RateLimiting;
using Microsoft.AspNetCore.Mvc.Filters;
using Microsoft.AspNetCore.Mvc;
using Microsoft.AspNetCore.SignalR;
using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Web;
using Microsoft.AspNetCore.Components.Rendering;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Options;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Http;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.AspNetCore.Mvc.ModelBinding;
using Microsoft.Extensions.Caching.Distributed;
static class T {
    public static async Task Run(string name, Func<Task> f) { try {
        await f().WaitAsync(TimeSpan.FromSeconds(40));
        Console.WriteLine("= " + name);
    } catch (Exception e) { Console.WriteLine("= " + name + ": FAILED " + e); } } public static void P(object o) => Console.WriteLine(o);
}
public class Opt {
    [System.ComponentModel.DataAnnotations.Required] public string Name { get; set; } public int N { get; set; } public List<string> L { get; set; } public Dictionary<string, Opt> D { get; set; } public TimeSpan Ts { get; set; } public DayOfWeek Day { get; set; }
}
public class ChatHub : Hub {
    public override Task OnConnectedAsync() => base.OnConnectedAsync();
    public Task<string> Echo(string s) => Task.FromResult("echo " + s);
    public Task All(string s) => Clients.All.SendAsync("msg", s);
    public async IAsyncEnumerable<int> Count(int n) { for (int i = 0; i < n; i++) {
        await Task.Yield();
        yield return i;
    }
    }
}
public class FilterA : IAsyncActionFilter {
    public async Task OnActionExecutionAsync(ActionExecutingContext c, ActionExecutionDelegate n) {
        c.HttpContext.Response.Headers["X-F"] = "1";
        await n();
    }
}
public class VM {
    [System.ComponentModel.DataAnnotations.StringLength(4)] public string A { get; set; } public int[] Ns { get; set; } public VM Sub { get; set; } public IFormFile File { get; set; }
}
public class HomeController : Controller {
    [HttpPost("/form")] public IActionResult Form([FromForm] VM v) => ModelState.IsValid ? Json(new { v.A, v.Ns, sub = v.Sub?.A, file = v.File?.Length }) : BadRequest(ModelState);
    [HttpGet("/content"), ServiceFilter(typeof(FilterA))] public IActionResult C() => Content("c", "text/plain");
    [HttpGet("/file")] public IActionResult F() => File(new byte[] { 1, 2, 3 }, "application/octet-stream", "f.bin");
    [HttpGet("/err")] public IActionResult E() => throw new Exception("mvc err");
    [HttpGet("/conv/{x}/{y?}")] public async Task<string> Conv(string x, int y = 9) {
        await Task.Delay(1);
        return x + y + Url.Action("C");
    }
    [HttpGet("/xml"), Produces("application/xml")] public VM X() => new VM { A = "x" };
    [Authorize(Roles = "adm"), HttpGet("/adm")] public string Adm() => User.Identity.Name;
}
public class Hello : ComponentBase {
    [Parameter] public string Name { get; set; } protected override void BuildRenderTree(RenderTreeBuilder b) {
        b.OpenElement(0, "p");
        b.AddAttribute(1, "class", "x");
        b.AddContent(2, "Hello " + Name + " <&>");
        b.CloseElement();
    }
}
public class HC : IHealthCheck {
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext c, CancellationToken t = default) => Task.FromResult(HealthCheckResult.Degraded("slow"));
}
public class Typed {
    public HttpClient C;
    public Typed(HttpClient c) { C = c; }
}
public class DH : DelegatingHandler {
    protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage r, CancellationToken t) {
        r.Headers.Add("X-DH", "1");
        return base.SendAsync(r, t);
    }
}
public class EH : IExceptionHandler {
    public async ValueTask<bool> TryHandleAsync(HttpContext c, Exception e, CancellationToken t) {
        if (e.Message != "special") return false;
        c.Response.StatusCode = 418;
        await c.Response.WriteAsync("handled");
        return true;
    }
}
class P {
    static async Task Main(string[] args) {
        var root = Directory.CreateTempSubdirectory("web-application").FullName;
        var socket = root + "/k.sock";
        File.WriteAllText(root + "/appsettings.json", "{ \"Opt\": { \"Name\": \"n\", \"N\": 3, \"L\": [\"a\",\"b\"], \"D\": { \"k\": { \"Name\": \"in\" } }, \"Ts\": \"00:01:00\", \"Day\": \"Friday\" }, \"Logging\": { \"LogLevel\": { \"Default\": \"None\", \"P\": \"Warning\" } } }");
        Environment.SetEnvironmentVariable("Opt__N", "8");
        var b = WebApplication.CreateBuilder(new WebApplicationOptions { ContentRootPath = root });
        b.Configuration.AddXmlStream(new MemoryStream(Encoding.UTF8.GetBytes("<c><X><Y>5</Y></X></c>"))).AddIniStream(new MemoryStream(Encoding.UTF8.GetBytes("[I]\nk=v"))).AddCommandLine(new[] { "--q=z" });
        b.Logging.ClearProviders();
        b.Logging.AddSimpleConsole(o => {
            o.SingleLine = true;
            o.TimestampFormat = null;
        });
        b.Services.AddOptions<Opt>().Bind(b.Configuration.GetSection("Opt")).ValidateDataAnnotations();
        b.Services.Configure<Opt>("bad", o => o.Name = null);
        b.Services.AddControllersWithViews().AddXmlSerializerFormatters().AddApplicationPart(typeof(P).Assembly);
        b.Services.AddSingleton<FilterA>();
        b.Services.AddSignalR();
        b.Services.AddRazorComponents();
        b.Services.AddHealthChecks().AddCheck<HC>("hc");
        b.Services.AddMemoryCache();
        b.Services.AddDistributedMemoryCache();
        b.Services.AddSession();
        b.Services.AddDataProtection().UseEphemeralDataProtectionProvider();
        b.Services.AddProblemDetails();
        b.Services.AddExceptionHandler<EH>();
        b.Services.AddOutputCache();
        b.Services.AddCors(o => o.AddDefaultPolicy(p => p.WithOrigins("http://o").AllowAnyHeader()));
        b.Services.AddRateLimiter(o => o.AddFixedWindowLimiter("fx", x => {
            x.PermitLimit = 2;
            x.Window = TimeSpan.FromMinutes(5);
        }));
        b.Services.AddAuthentication(CookieAuthenticationDefaults.AuthenticationScheme).AddCookie(o => {
            o.Events.OnRedirectToLogin = c => {
                c.Response.StatusCode = 401;
                return Task.CompletedTask;
            };
        });
        b.Services.AddAuthorization(o => o.AddPolicy("p", p => p.RequireClaim("k", "v")));
        b.Services.AddTransient<DH>();
        b.Services.AddHttpClient<Typed>(c => c.DefaultRequestHeaders.Add("X-T", "t")).AddHttpMessageHandler<DH>();
        b.Services.AddKeyedSingleton<string>("ka", "keyed-a");
        b.Services.AddAntiforgery();
        b.Services.AddLocalization();
        b.Services.AddRequestTimeouts();
        b.Services.AddRequestDecompression();
        b.Services.AddHttpLogging(o => { });
        b.WebHost.ConfigureKestrel(k => {
            k.Listen(IPAddress.Loopback, 0);
            k.ListenUnixSocket(socket);
            k.Limits.MaxRequestBodySize = 100000;
        });
        var app = b.Build();
        app.UseExceptionHandler();
        app.UseStatusCodePages();
        app.UseRouting();
        app.UseCors();
        app.UseRateLimiter();
        app.UseRequestTimeouts();
        app.UseRequestDecompression();
        app.UseAuthentication();
        app.UseAuthorization();
        app.UseSession();
        app.UseOutputCache();
        app.UseAntiforgery();
        app.MapControllers();
        app.MapHub<ChatHub>("/hub");
        app.MapHealthChecks("/health");
        int oc = 0;
        app.MapGet("/oc", () => ++oc).CacheOutput();
        app.MapGet("/rl", () => "rl").RequireRateLimiting("fx");
        app.MapGet("/special", IResult () => throw new Exception("special"));
        app.MapGet("/generic", IResult () => throw new Exception("generic"));
        app.MapGet("/login", async (HttpContext c) => {
            await c.SignInAsync(new ClaimsPrincipal(new ClaimsIdentity(new[] { new Claim(ClaimTypes.Name, "ann"), new Claim("k", "v"), new Claim(ClaimTypes.Role, "adm") }, "Cookies")));
        });
        app.MapGet("/me", (ClaimsPrincipal u) => u.Identity.Name).RequireAuthorization("p");
        app.MapGet("/sess", (HttpContext c) => {
            var n = (c.Session.GetInt32("n") ?? 0) + 1;
            c.Session.SetInt32("n", n);
            return n;
        });
        app.MapGet("/keyed", ([FromKeyedServices("ka")] string s) => s);
        app.MapGet("/razor", () => new RazorComponentResult<Hello>(new { Name = "Z" }));
        app.MapGet("/timeout", async (CancellationToken t) => {
            try { await Task.Delay(5000, t); } catch (OperationCanceledException) { } return Results.StatusCode(504);
        }).WithRequestTimeout(TimeSpan.FromMilliseconds(50));
        var grp = app.MapGroup("/g").AddEndpointFilter(async (c, n) => "<" + await n(c) + ">");
        grp.MapGet("/{x}", (string x, [AsParameters] Q q) => x + q.A + q.B);
        app.MapPost("/up", (IFormFile f) => f.FileName + f.Length).DisableAntiforgery();
        app.MapGet("/typed", Results<Ok<int>, NotFound> (int x) => x > 0 ? TypedResults.Ok(x) : TypedResults.NotFound());
        app.MapGet("/hdr", (HttpContext c) => c.Request.Headers["X-DH"] + "" + c.Request.Headers["X-T"]);
        app.MapPost("/dec", async (HttpRequest r) => (await new StreamReader(r.Body).ReadToEndAsync()).Length);
        app.MapGet("/sse", async (HttpContext c) => {
            c.Response.ContentType = "text/event-stream";
            for (int i = 0; i < 3; i++) {
                await c.Response.WriteAsync($"data: {i}\n\n");
                await c.Response.Body.FlushAsync();
            }
        });
        app.MapFallback(() => Results.NotFound("fb"));
        await app.StartAsync();
        var url = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>().Addresses.First();
        var h = new HttpClient(new SocketsHttpHandler()) { BaseAddress = new Uri(url) };
        async Task S(HttpResponseMessage r) {
            var s = await r.Content.ReadAsStringAsync();
            T.P((int)r.StatusCode + " " + r.Content.Headers.ContentType + " " + System.Text.RegularExpressions.Regex.Replace(s, "\"traceId\":\"[^\"]*\"", "TRACE"));
        }
        async Task G(string u) => await S(await h.GetAsync(u));
        await T.Run("options", async () => {
            var o = app.Services.GetRequiredService<IOptions<Opt>>().Value;
            T.P(o.Name + o.N + o.L.Count + o.D["k"].Name + o.Ts + o.Day);
            try {
                var x = app.Services.GetRequiredService<IOptionsMonitor<Opt>>().Get("bad");
                T.P("?" + x.Name);
            } catch (OptionsValidationException e) { T.P(e.Message); } T.P(app.Configuration["X:Y"] + app.Configuration["I:k"] + app.Configuration["q"]);
        });
        await T.Run("mvc", async () => {
            await G("/content");
            await G("/file");
            await G("/err");
            await G("/conv/q");
            await G("/xml");
            await S(await h.PostAsync("/form", new FormUrlEncodedContent(new Dictionary<string, string> { ["A"] = "ab", ["Ns[0]"] = "1", ["Ns[1]"] = "2", ["Sub.A"] = "in" })));
            await S(await h.PostAsync("/form", new FormUrlEncodedContent(new Dictionary<string, string> { ["A"] = "toolong", ["Ns[0]"] = "x" })));
            var mp = new MultipartFormDataContent();
            mp.Add(new StringContent("mp"), "A");
            mp.Add(new ByteArrayContent(new byte[5000]), "File", "x.bin");
            await S(await h.PostAsync("/form", mp));
        });
        await T.Run("auth", async () => {
            await G("/me");
            await G("/adm");
            await G("/login");
            await G("/me");
            await G("/adm");
        });
        await T.Run("session", async () => {
            await G("/sess");
            await G("/sess");
        });
        await T.Run("caches", async () => {
            await G("/oc");
            await G("/oc");
            await G("/rl");
            await G("/rl");
            await G("/rl");
        });
        await T.Run("errors", async () => {
            await G("/special");
            await G("/generic");
            await G("/nope");
            await G("/timeout");
            await S(await h.PostAsync("/dec", new ByteArrayContent(new byte[200000])));
        });
        await T.Run("misc", async () => {
            await G("/health");
            await G("/keyed");
            await G("/razor");
            await G("/g/x?A=1&B=q&B=r");
            await G("/typed?x=1");
            await G("/typed?x=0");
            await G("/typed?x=z");
            await G("/sse");
            var mp = new MultipartFormDataContent();
            mp.Add(new ByteArrayContent(new byte[50]), "f", "n.bin");
            await S(await h.PostAsync("/up", mp));
        });
        await T.Run("factory", async () => {
            var c = app.Services.GetRequiredService<Typed>().C;
            T.P(await c.GetStringAsync(url + "/hdr"));
        });
        await T.Run("decompress", async () => {
            var ms = new MemoryStream();
            using (var z = new System.IO.Compression.BrotliStream(ms, System.IO.Compression.CompressionLevel.Fastest, true)) z.Write(new byte[9000]);
            var c = new ByteArrayContent(ms.ToArray());
            c.Headers.ContentEncoding.Add("br");
            await S(await h.PostAsync("/dec", c));
        });
        await T.Run("cors", async () => {
            var m = new HttpRequestMessage(HttpMethod.Options, "/oc");
            m.Headers.Add("Origin", "http://o");
            m.Headers.Add("Access-Control-Request-Method", "GET");
            var r = await h.SendAsync(m);
            T.P((int)r.StatusCode + string.Join(",", r.Headers.GetValues("Access-Control-Allow-Origin")));
        });
        await T.Run("unix", async () => {
            using var u = new HttpClient(new SocketsHttpHandler { ConnectCallback = async (c, t) => {
                var s = new System.Net.Sockets.Socket(System.Net.Sockets.AddressFamily.Unix, System.Net.Sockets.SocketType.Stream, 0);
                await s.ConnectAsync(new System.Net.Sockets.UnixDomainSocketEndPoint(socket));
                return new System.Net.Sockets.NetworkStream(s, true);
            }
            });
            T.P(await u.GetStringAsync("http://x/keyed"));
        });
        await T.Run("signalr", async () => {
            using var ws = new System.Net.WebSockets.ClientWebSocket();
            await ws.ConnectAsync(new Uri(url.Replace("http", "ws") + "/hub"), default);
            async Task Send(string s) => await ws.SendAsync(Encoding.UTF8.GetBytes(s + "\x1e"), System.Net.WebSockets.WebSocketMessageType.Text, true, default);
            var buf = new byte[4096];
            var acc = "";
            async Task<string> Recv() {
                while (!acc.Contains('\x1e')) {
                    var r = await ws.ReceiveAsync(buf, default);
                    acc += Encoding.UTF8.GetString(buf, 0, r.Count);
                }
                var i = acc.IndexOf('\x1e');
                var m = acc[..i];
                acc = acc[(i + 1)..];
                return m;
            }
            await Send("{\"protocol\":\"json\",\"version\":1}");
            T.P(await Recv());
            await Send("{\"type\":1,\"invocationId\":\"1\",\"target\":\"Echo\",\"arguments\":[\"x\"]}");
            T.P(await Recv());
            await Send("{\"type\":4,\"invocationId\":\"2\",\"target\":\"Count\",\"arguments\":[3]}");
            for (int i = 0; i < 4; i++) T.P(await Recv());
            await Send("{\"type\":1,\"target\":\"All\",\"arguments\":[\"hey\"]}");
            T.P(await Recv());
        });
        await T.Run("dp", async () => {
            var p = app.Services.GetRequiredService<IDataProtectionProvider>().CreateProtector("x");
            T.P(p.Unprotect(p.Protect("secret")));
            T.P(p.ToTimeLimitedDataProtector().Unprotect(p.ToTimeLimitedDataProtector().Protect("t", TimeSpan.FromHours(1))));
            var mc = app.Services.GetRequiredService<IMemoryCache>();
            T.P(mc.GetOrCreate("k", e => {
                e.SlidingExpiration = TimeSpan.FromMinutes(1);
                return 5;
            }));
        });
        await T.Run("logging", async () => {
            var l = app.Services.GetRequiredService<ILogger<P>>();
            using (l.BeginScope("sc {A}", 1)) l.LogWarning(new EventId(3, "ev"), "warn {X} {Y:0.00}", "x", 1.5);
            l.LogError(new Exception("ex"), "err");
            l.LogInformation("hidden");
            LoggerMessage.Define<int>(LogLevel.Critical, 4, "crit {N}")(l, 5, null);
            await Task.Delay(100);
        });
        await T.Run("stop", async () => {
            await app.StopAsync();
            await app.DisposeAsync();
            Directory.Delete(root, true);
        });
    }
}
public struct Q {
    public int A { get; set; } [Microsoft.AspNetCore.Mvc.FromQuery(Name = "B")] public string[] Bs { get; set; } public string B => string.Join("+", Bs ?? new string[0]);
}
