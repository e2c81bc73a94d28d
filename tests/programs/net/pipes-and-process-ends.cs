// io: each
// stdin: first line\nsecond line\n
// Many threads wait for pipes and for the ends of processes: anonymous and named pipes, redirected output and input, WaitForExit; and the console's input.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    const int Count = 60, Length = 200_000;

    static int Main()
    {
        Console.WriteLine(Console.ReadLine());
        Console.WriteLine(Console.In.ReadToEnd().Length);
        int threads = AnonymousPipes();
        threads = Math.Max(threads, Processes());
        NamedPipes();
        Asynchronous().GetAwaiter().GetResult();
        bool parks = (Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native") != "native" && Environment.GetEnvironmentVariable("SAKI_IO") != "blocking";
        // There may be a carrier for each processor.
        if (parks && threads > 36 + 2 * Environment.ProcessorCount)
        {
            Console.WriteLine(threads + " threads of the system");
            return 1;
        }
        return 0;
    }

    static int Threads() => Directory.GetDirectories("/proc/self/task").Length;

    static int AnonymousPipes()
    {
        var servers = new List<AnonymousPipeServerStream>();
        var threads = new List<Thread>();
        long sum = 0;
        for (int i = 0; i < Count; i++)
        {
            var server = new AnonymousPipeServerStream(PipeDirection.Out);
            var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
            servers.Add(server);
            var thread = new Thread(() =>
            {
                var buffer = new byte[5000];
                for (int count; (count = client.Read(buffer, 0, buffer.Length)) > 0;)
                    Interlocked.Add(ref sum, buffer.Take(count).Sum(b => (long)b));
            });
            thread.Start();
            threads.Add(thread);
        }
        Thread.Sleep(100);
        int most = Threads();
        // More than a pipe holds, so that writers wait, too.
        var writers = servers.Select((server, i) => new Thread(() =>
        {
            server.Write(Enumerable.Range(0, Length).Select(j => (byte)(i + j)).ToArray());
            server.Dispose();
        })).ToList();
        writers.ForEach(writer => writer.Start());
        writers.ForEach(writer => writer.Join());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine(sum);
        return most;
    }

    static int Processes()
    {
        int most = 0, sum = 0;
        var threads = Enumerable.Range(0, 20).Select(i => new Thread(() =>
        {
            var info = new ProcessStartInfo("/bin/sh") { RedirectStandardOutput = true, RedirectStandardInput = true };
            info.ArgumentList.Add("-c");
            info.ArgumentList.Add($"read line; echo $line; exec >&-; sleep 0.2; exit {i}");
            using Process process = Process.Start(info);
            process.StandardInput.WriteLine(i);
            Interlocked.Add(ref sum, int.Parse(process.StandardOutput.ReadToEnd()) * 1000);
            process.WaitForExit();
            Interlocked.Add(ref sum, process.ExitCode);
        })).ToList();
        threads.ForEach(thread => thread.Start());
        Thread.Sleep(150);
        most = Threads();
        threads.ForEach(thread => thread.Join());
        Console.WriteLine(sum);
        return most;
    }

    static void NamedPipes()
    {
        string name = "saki-" + Environment.ProcessId;
        var server = new Thread(() =>
        {
            using var pipe = new NamedPipeServerStream(name, PipeDirection.InOut);
            pipe.WaitForConnection();
            using var reader = new StreamReader(pipe);
            using var writer = new StreamWriter(pipe) { AutoFlush = true };
            for (string line; (line = reader.ReadLine()) != "end";)
                writer.WriteLine(line.ToUpperInvariant());
        });
        server.Start();
        using var client = new NamedPipeClientStream(".", name, PipeDirection.InOut);
        client.Connect(5000);
        using (var reader = new StreamReader(client))
        using (var writer = new StreamWriter(client) { AutoFlush = true })
        {
            for (int i = 0; i < 20; i++)
            {
                writer.WriteLine("line " + i);
                if (reader.ReadLine() != "LINE " + i)
                    Console.WriteLine("another line");
            }
            writer.WriteLine("end");
            server.Join();
        }
        Console.WriteLine("named pipe");
    }

    static async Task Asynchronous()
    {
        using var server = new AnonymousPipeServerStream(PipeDirection.Out);
        using var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle);
        ValueTask<int> reading = client.ReadAsync(new byte[10]);
        await Task.Delay(30);
        await server.WriteAsync(new byte[4]);
        Console.WriteLine(await reading);
        using var cancel = new CancellationTokenSource(50);
        try { await client.ReadAsync(new byte[10], cancel.Token); }
        catch (OperationCanceledException) { Console.WriteLine("cancelled"); }
        Task<int> blocking = Task.Run(() => client.Read(new byte[10], 0, 10));
        await Task.Delay(30);
        server.Write(new byte[3]);
        Console.WriteLine(await blocking);
        var info = new ProcessStartInfo("/bin/sh") { RedirectStandardOutput = true };
        info.ArgumentList.Add("-c");
        info.ArgumentList.Add("for i in 1 2 3; do echo line $i; sleep 0.02; done; exit 4");
        using Process process = Process.Start(info);
        for (string line; (line = await process.StandardOutput.ReadLineAsync()) != null;)
            Console.WriteLine(line);
        await process.WaitForExitAsync();
        Console.WriteLine(process.ExitCode);
    }
}
