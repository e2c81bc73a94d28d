// A server of ASP.NET Core for `./x bench --suite web`: KIND PORT. KIND says how it answers at /: with a text, with
// JSON, or with a text after 10 ms for which the handler blocks its thread, or which it awaits.
using System;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

static class Web
{
    sealed record Message(string Text, int Number);

    static void Main(string[] arguments)
    {
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:" + arguments[1]);
        WebApplication app = builder.Build();
        switch (arguments[0])
        {
            case "plaintext": app.MapGet("/", () => "Hello, world!\n"); break;
            case "json": app.MapGet("/", () => new Message("Hello, world!", 42)); break;
            case "blocking": app.MapGet("/", () => { Thread.Sleep(10); return "Hello, world!\n"; }); break;
            case "async": app.MapGet("/", async () => { await Task.Delay(10); return "Hello, world!\n"; }); break;
            default: Console.Error.WriteLine("no such server: " + arguments[0]); Environment.Exit(2); break;
        }
        app.Run();
    }
}
