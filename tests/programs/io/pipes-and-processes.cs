// io: each
// stdin: first line\nsecond line\nrest
// Waiting for processes and for what comes through pipes: redirected streams, anonymous and named pipes, the console's input.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.IO.Pipes;
using System.Linq;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

class PipesAndProcesses
{
    const int Limit = 10000, Moment = 30;

    static void Main()
    {
        Input();
        Waits();
        Redirected();
        OutputEvents();
        ManyChildren();
#if !NET
        AbortedRead();
#endif
        Anonymous();
        Named();
        NamedTasks().Wait();
        Fifo();
    }

    static void Input()
    {
        string first = null;
        var reader = new Thread(() => first = Console.In.ReadLine());
        reader.Start();
        reader.Join();
        Console.WriteLine("input: " + first + ", " + Console.ReadLine() + ", " + Console.In.ReadToEnd() + ", " + (Console.Read() == -1));
    }

    static Process Start(string script, bool redirects)
    {
        var info = new ProcessStartInfo("/bin/sh", "-c \"" + script.Replace("\"", "\\\"") + "\"") { UseShellExecute = false };
        info.RedirectStandardInput = info.RedirectStandardOutput = info.RedirectStandardError = redirects;
        return Process.Start(info);
    }

    static void Waits()
    {
        using (var process = Start("sleep 60", false))
        {
            Console.WriteLine("before its end: " + process.WaitForExit(30));
            var killer = new Thread(() => { Thread.Sleep(Moment); process.Kill(); });
            killer.Start();
            process.WaitForExit();
            killer.Join();
            Console.WriteLine("killed: " + process.HasExited + " " + process.ExitCode);
        }
        using (var process = Start("exit 7", false))
        {
            var exited = new ManualResetEvent(false);
            process.Exited += (sender, e) => exited.Set();
            process.EnableRaisingEvents = true;
            Console.WriteLine("exited: " + exited.WaitOne(Limit) + " " + process.ExitCode);
        }
        using (var process = Start("sleep 60", false))
        {
            string outcome = "none";
            var waiter = new Thread(() =>
            {
                try
                {
                    process.WaitForExit();
                }
                catch (ThreadInterruptedException)
                {
                    outcome = "interrupted";
                }
            });
            waiter.Start();
            Thread.Sleep(Moment);
            waiter.Interrupt();
            Console.WriteLine("interrupt: " + waiter.Join(Limit) + " " + outcome);
            process.Kill();
            process.WaitForExit();
        }
    }

    static void Redirected()
    {
        using (var process = Start("read a; echo \"got $a\"; echo problem >&2; read b; echo \"got $b\"; cat; exit 3", true))
        {
            process.StandardInput.WriteLine("one");
            Console.WriteLine(process.StandardOutput.ReadLine());
            Console.WriteLine(process.StandardError.ReadLine());
            process.StandardInput.WriteLine("two");
            Console.WriteLine(process.StandardOutput.ReadLine());
            // More than a pipe holds, both ways.
            var text = new string('x', 1 << 20);
            var writer = new Thread(() =>
            {
                process.StandardInput.Write(text);
                process.StandardInput.Close();
            });
            writer.Start();
            Thread.Sleep(Moment);
            Console.WriteLine("through it: " + (process.StandardOutput.ReadToEnd() == text));
            writer.Join();
            process.WaitForExit();
            Console.WriteLine("code: " + process.ExitCode);
        }
        using (var process = Start("exit 0", true))
        {
            process.WaitForExit();
            string outcome = "none";
            try
            {
                for (int i = 0; i < 100; i++)
                {
                    process.StandardInput.Write(new string('x', 1000));
                    process.StandardInput.Flush();
                }
            }
            catch (IOException)
            {
                outcome = "error";
            }
            Console.WriteLine("nobody reads: " + outcome);
        }
    }

    static void OutputEvents()
    {
        using (var process = Start("for i in 1 2 3; do echo out $i; echo error $i >&2; done", true))
        {
            var lines = new List<string>();
            DataReceivedEventHandler add = (sender, e) => { lock (lines) lines.Add(e.Data ?? "end"); };
            process.OutputDataReceived += add;
            process.ErrorDataReceived += add;
            process.BeginOutputReadLine();
            process.BeginErrorReadLine();
            process.WaitForExit();
            Console.WriteLine("events: " + string.Join(", ", lines.OrderBy(line => line, StringComparer.Ordinal)));
        }
    }

    // A thread waits for the output of each of them.
    static void ManyChildren()
    {
        const int Children = 12;
        var texts = new string[Children];
        var threads = Enumerable.Range(0, Children).Select(i => new Thread(() =>
        {
            using (var process = Start("read a; echo $a", true))
            {
                process.StandardInput.WriteLine("child " + i);
                texts[i] = process.StandardOutput.ReadToEnd().Trim();
                process.WaitForExit();
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("children: " + Enumerable.Range(0, Children).Count(i => texts[i] == "child " + i));
    }

    static void AbortedRead()
    {
        using (var process = Start("read a; echo $a", true))
        {
            string outcome = "none";
            bool isInside = false;
            var reader = new Thread(() =>
            {
                try
                {
                    Volatile.Write(ref isInside, true);
                    process.StandardOutput.ReadLine();
                }
                catch (ThreadAbortException)
                {
                    outcome = "abort";
                }
            });
            reader.Start();
            while (!Volatile.Read(ref isInside))
                Thread.Sleep(1);
            Thread.Sleep(Moment);
            reader.Abort();
            Thread.Sleep(Moment);
            process.StandardInput.WriteLine("late");
            Console.WriteLine("aborted: " + reader.Join(Limit) + " " + outcome);
            process.WaitForExit();
        }
    }

    static void Anonymous()
    {
        using (var server = new AnonymousPipeServerStream(PipeDirection.Out, HandleInheritability.None))
        using (var client = new AnonymousPipeClientStream(PipeDirection.In, server.ClientSafePipeHandle))
        {
            var data = new byte[300000];
            new Random(1).NextBytes(data);
            var all = new MemoryStream();
            var reader = new Thread(() => client.CopyTo(all));
            reader.Start();
            Thread.Sleep(Moment);
            server.Write(data, 0, data.Length);
            server.Dispose();
            Console.WriteLine("anonymous: " + reader.Join(Limit) + " " + all.ToArray().SequenceEqual(data));
        }
    }

    static string Name(string what)
    {
        return "saki-test-" + what + "-" + Process.GetCurrentProcess().Id;
    }

    static void Named()
    {
        string name = Name("named");
        // All are there before the first client: with the last one that is closed those end who are in the queue.
        var streams = Enumerable.Range(0, 3).Select(i => new NamedPipeServerStream(name, PipeDirection.InOut, 3)).ToList();
        var servers = streams.Select(server => new Thread(() =>
        {
            using (server)
            {
                server.WaitForConnection();
                var reader = new StreamReader(server);
                var writer = new StreamWriter(server) { AutoFlush = true };
                for (string line; (line = reader.ReadLine()) != null; )
                    writer.WriteLine(new string(line.Reverse().ToArray()));
            }
        })).ToList();
        servers.ForEach(thread => thread.Start());
        int right = 0;
        var clients = Enumerable.Range(0, 3).Select(i => new Thread(() =>
        {
            using (var client = new NamedPipeClientStream(".", name, PipeDirection.InOut))
            {
                client.Connect(Limit);
                var reader = new StreamReader(client);
                var writer = new StreamWriter(client) { AutoFlush = true };
                for (int n = 0; n < 5; n++)
                {
                    writer.WriteLine("abc" + n);
                    if (reader.ReadLine() == n + "cba")
                        Interlocked.Increment(ref right);
                }
            }
        })).ToList();
        clients.ForEach(thread => thread.Start());
        clients.ForEach(thread => thread.Join(Limit));
        servers.ForEach(thread => thread.Join(Limit));
        Console.WriteLine("named: " + right);
        using (var client = new NamedPipeClientStream(".", Name("nobody"), PipeDirection.InOut))
        {
            try
            {
                client.Connect(50);
            }
            catch (TimeoutException)
            {
                Console.WriteLine("nobody there: timeout");
            }
        }
    }

    static async Task NamedTasks()
    {
        string name = Name("tasks");
        using (var server = new NamedPipeServerStream(name, PipeDirection.InOut, 1, PipeTransmissionMode.Byte, PipeOptions.Asynchronous))
        using (var client = new NamedPipeClientStream(".", name, PipeDirection.InOut, PipeOptions.Asynchronous))
        {
            var waiting = server.WaitForConnectionAsync();
            await client.ConnectAsync();
            await waiting;
            var buffer = new byte[10];
            var reading = server.ReadAsync(buffer, 0, 10);
            await client.WriteAsync(new byte[] { 1, 2, 3 }, 0, 3);
            Console.WriteLine("named, asynchronously: " + await reading + " " + buffer[2]);
            using (var source = new CancellationTokenSource(50))
            {
                try
                {
                    await server.ReadAsync(buffer, 0, 10, source.Token);
                    Console.WriteLine("read");
                }
                catch (OperationCanceledException)
                {
                    Console.WriteLine("cancelled");
                }
            }
        }
    }

    // A pipe of the file system, whose opening waits for the other side.
    static void Fifo()
    {
        string path = Path.GetFullPath("fifo");
        using (var process = Start("mkfifo " + path, false))
            process.WaitForExit();
        string text = null;
        var reader = new Thread(() =>
        {
            using (var stream = new StreamReader(new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite)))
                text = stream.ReadToEnd();
        });
        reader.Start();
        Thread.Sleep(Moment);
        using (var writer = new StreamWriter(new FileStream(path, FileMode.Open, FileAccess.Write, FileShare.ReadWrite)))
        {
            writer.Write("over ");
            writer.Flush();
            Thread.Sleep(Moment);
            writer.Write("there");
        }
        Console.WriteLine("fifo: " + reader.Join(Limit) + " " + text);
        File.Delete(path);
    }
}
