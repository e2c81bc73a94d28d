// io: each
// Files: read and written by threads and by asynchronous calls, several at once, and changes of a folder that a FileSystemWatcher reports.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;

class FileStreams
{
    const int Limit = 10000;

    static void Main()
    {
        Synchronous();
        BeginAndEnd();
        Tasks().Wait();
        Cancelled().Wait();
        Several();
        Watched();
        ManyWatchers();
    }

    static byte[] Data(int length, int seed)
    {
        var data = new byte[length];
        new Random(seed).NextBytes(data);
        return data;
    }

    static void Synchronous()
    {
        var data = Data(500000, 1);
        using (var file = new FileStream("sync", FileMode.Create))
        {
            file.Write(data, 0, data.Length);
            file.Seek(1000, SeekOrigin.Begin);
            file.WriteByte(42);
            file.Flush(true);
            data[1000] = 42;
            file.Position = 0;
            var read = new byte[data.Length];
            int got = 0, count;
            while ((count = file.Read(read, got, read.Length - got)) > 0)
                got += count;
            Console.WriteLine("synchronous: " + got + " " + read.SequenceEqual(data));
        }
    }

    static void BeginAndEnd()
    {
        var data = Data(100000, 2);
        using (var file = new FileStream("begin", FileMode.Create, FileAccess.ReadWrite, FileShare.None, 4096, FileOptions.Asynchronous))
        {
            file.EndWrite(file.BeginWrite(data, 0, data.Length, null, null));
            file.Position = 0;
            var read = new byte[data.Length];
            int got = 0;
            while (got < read.Length)
                got += file.EndRead(file.BeginRead(read, got, Math.Min(5000, read.Length - got), null, null));
            Console.WriteLine("begin and end: " + read.SequenceEqual(data) + " " + file.EndRead(file.BeginRead(read, 0, 1, null, null)));
        }
    }

    static async Task<bool> Copy(int number)
    {
        var data = Data(200000, number);
        string from = "from" + number, to = "to" + number;
        using (var file = new FileStream(from, FileMode.Create, FileAccess.Write, FileShare.None, 4096, number % 2 == 0))
            await file.WriteAsync(data, 0, data.Length);
        using (var source = new FileStream(from, FileMode.Open, FileAccess.Read, FileShare.Read, 4096, number % 2 == 0))
        using (var target = new FileStream(to, FileMode.Create, FileAccess.Write, FileShare.None, 4096, number % 3 == 0))
            await source.CopyToAsync(target);
        return File.ReadAllBytes(to).SequenceEqual(data);
    }

    static async Task Tasks()
    {
        var right = await Task.WhenAll(Enumerable.Range(0, 12).Select(Copy));
        Console.WriteLine("tasks: " + right.Count(r => r));
        using (var reader = new StreamReader(Lines()))
        {
            int count = 0;
            while (await reader.ReadLineAsync() != null)
                count++;
            Console.WriteLine("lines: " + count);
        }
    }

    static string Lines()
    {
        File.WriteAllLines("lines", Enumerable.Range(0, 2000).Select(i => "line " + i));
        return "lines";
    }

    static async Task Cancelled()
    {
        using (var source = new CancellationTokenSource())
        using (var file = new FileStream("sync", FileMode.Open, FileAccess.Read, FileShare.Read, 4096, true))
        {
            source.Cancel();
            try
            {
                await file.ReadAsync(new byte[10], 0, 10, source.Token);
                Console.WriteLine("read");
            }
            catch (OperationCanceledException)
            {
                Console.WriteLine("cancelled");
            }
        }
    }

    // A thread for each of several files.
    static void Several()
    {
        int right = 0;
        var threads = Enumerable.Range(0, 16).Select(i => new Thread(() =>
        {
            string name = "several" + i;
            for (int n = 0; n < 20; n++)
                File.AppendAllText(name, "entry " + n + "\n");
            if (File.ReadAllLines(name).Where((line, n) => line == "entry " + n).Count() == 20)
                Interlocked.Increment(ref right);
            File.Delete(name);
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("several: " + right);
    }

    static void Watched()
    {
        Directory.CreateDirectory("watched");
        var seen = new HashSet<string>();
        using (var watcher = new FileSystemWatcher("watched"))
        {
            FileSystemEventHandler add = (sender, e) => { lock (seen) { seen.Add(e.ChangeType + " " + e.Name); Monitor.PulseAll(seen); } };
            watcher.Created += add;
            watcher.Deleted += add;
            watcher.Changed += add;
            watcher.EnableRaisingEvents = true;
            File.WriteAllText("watched/one", "text");
            Expect(seen, "Created one");
            Expect(seen, "Changed one");
            File.Delete("watched/one");
            Expect(seen, "Deleted one");
            watcher.EnableRaisingEvents = false;
            File.WriteAllText("watched/three", "text");
            watcher.EnableRaisingEvents = true;
            File.WriteAllText("watched/four", "text");
            Expect(seen, "Created four");
            lock (seen)
                Console.WriteLine("while off: " + seen.Contains("Created three"));
        }
    }

    static void Expect(HashSet<string> seen, string what)
    {
        lock (seen)
        {
            var end = DateTime.UtcNow.AddMilliseconds(Limit);
            while (!seen.Contains(what) && DateTime.UtcNow < end)
                Monitor.Wait(seen, 100);
            Console.WriteLine(what + ": " + seen.Contains(what));
        }
    }

    // Each has a thread that waits for its changes; where waits park that is none of the system's.
    static void ManyWatchers()
    {
        const int Watchers = 40;
        var seen = new HashSet<string>();
        var watchers = new List<FileSystemWatcher>();
        for (int i = 0; i < Watchers; i++)
        {
            string folder = "many" + i;
            Directory.CreateDirectory(folder);
            var watcher = new FileSystemWatcher(folder);
            watcher.Created += (sender, e) => { lock (seen) { seen.Add(folder); Monitor.PulseAll(seen); } };
            watcher.EnableRaisingEvents = true;
            watchers.Add(watcher);
        }
        Thread.Sleep(50);
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        string mode = Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native";
        bool mayBeMany = mode == "native" || Environment.GetEnvironmentVariable("SAKI_IO") == "blocking";
        // There may be a carrier for each processor.
        Console.WriteLine("threads of the system: " + (mayBeMany || threads < 26 + 2 * Environment.ProcessorCount ? "as expected" : "" + threads));
        for (int i = 0; i < Watchers; i++)
            File.WriteAllText("many" + i + "/new", "");
        lock (seen)
        {
            var end = DateTime.UtcNow.AddMilliseconds(Limit);
            while (seen.Count < Watchers && DateTime.UtcNow < end)
                Monitor.Wait(seen, 100);
            Console.WriteLine("watchers: " + seen.Count);
        }
        watchers.ForEach(watcher => watcher.Dispose());
    }
}
