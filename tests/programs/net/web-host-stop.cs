// csc: -aspnet -usings
// host: hostfxr
// stress: skip a server under stress takes minutes
// A host stops in order when its process gets SIGTERM: a request that runs is finished, hosted services are stopped,
// the process ends with 0. The log is JSON.

using System.Diagnostics;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.Logging.AddJsonConsole(options => options.JsonWriterOptions = new JsonWriterOptions { Indented = false });
builder.Logging.AddFilter("Microsoft", LogLevel.None);
builder.WebHost.UseUrls("http://127.0.0.1:0");
builder.Services.AddHostedService<Worker>();
await using (var app = builder.Build()) {
    var stopping = app.Lifetime.ApplicationStopping;
    app.MapGet("/slow", async () => {
        app.Logger.LogInformation("a request runs");
        using var kill = Process.Start("/bin/kill", "-TERM " + Environment.ProcessId);
        await Task.Delay(Timeout.Infinite, stopping).ContinueWith(_ => { });
        return "finished";
    });
    app.Lifetime.ApplicationStopping.Register(() => Console.WriteLine("stopping"));
    app.Lifetime.ApplicationStopped.Register(() => Console.WriteLine("stopped"));
    await app.StartAsync();
    var address = app.Services.GetRequiredService<IServer>().Features.Get<IServerAddressesFeature>()!.Addresses.Single();
    using var client = new HttpClient();
    var answer = client.GetStringAsync(address + "/slow");
    await app.WaitForShutdownAsync();
    Console.WriteLine(await answer);
}
Console.WriteLine("the end of Main");

class Worker : BackgroundService {
    protected override async Task ExecuteAsync(CancellationToken stop) {
        try {
            await Task.Delay(Timeout.Infinite, stop);
        } catch (OperationCanceledException) {
            Console.WriteLine("the worker stops");
        }
    }
}
