// A storm of connections: CONNECTIONS SECONDS COMMAND... starts `COMMAND serve` (web-server.cs, the same program), and keeps CONNECTIONS
// open to it for SECONDS. Some ask, some read slowly, shut down their sending half, reset or break off in the middle. Every answer is
// compared byte by byte. In the end the server tells what it still holds. The last line is the verdict, and so is the exit code.

using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;

static class Program
{
    static async Task<int> Main(string[] args)
    {
        if (args.Length == 1 && args[0] == "serve")
        {
            await Server.Run();
            return 0;
        }
        if (args.Length < 3)
        {
            Console.Error.WriteLine("usage: CONNECTIONS SECONDS COMMAND...");
            return 2;
        }
        return await new Client(int.Parse(args[0]), double.Parse(args[1])).Run(args[2..]) ? 0 : 1;
    }
}

/// What a connection is for.
enum Kind { Asks, Pipelines, ReadsSlowly, ShutsDown, Resets, BreaksUpload, BreaksRequest, SpeaksWebSocket, Idles }

class Client(int connections, double seconds)
{
    // How long a connection may take to end after the storm: other programs may use the processors.
    const int PatienceSeconds = 240;
    // What may remain after the storm beyond what remained after the first one of the same width.
    const long LiveSlackKib = 48 << 10, ResidentSlackKib = 128 << 10;
    static readonly int kinds = Enum.GetValues<Kind>().Length;

    readonly long[] ended = new long[kinds];
    // Answers that were demanded in whole, and those that a broken connection got in whole all the same.
    long whole, gift, bytes, wrong, refused;
    // What each open connection does, for those that hang.
    readonly string?[] doing = new string?[connections];
    int port, open, most;

    public async Task<bool> Run(string[] command)
    {
        var start = new ProcessStartInfo(command[0]) { RedirectStandardInput = true, RedirectStandardOutput = true };
        foreach (string word in command[1..].Append("serve"))
            start.ArgumentList.Add(word);
        using var server = Process.Start(start)!;
        string? first = await server.StandardOutput.ReadLineAsync();
        if (first?.StartsWith("port ") != true)
        {
            Console.WriteLine("the server does not start: " + first);
            return false;
        }
        port = int.Parse(first[5..]);
        // The pools of buffers grow with the number of connections and stay, so the warm-up has all of them.
        await Storm(Math.Clamp(seconds / 6, 5, 30));
        var before = await Settled(server, null);
        Console.WriteLine("after warm-up: " + Text(before));
        Array.Clear(ended);
        whole = gift = bytes = 0;
        most = 0;
        var watch = Stopwatch.StartNew();
        bool hang = !await Storm(seconds);
        double took = watch.Elapsed.TotalSeconds;
        var after = await Settled(server, before);
        Console.WriteLine("after the storm: " + Text(after));
        Console.WriteLine($"{whole} whole answers and {gift} on broken connections in {took:f0} s, {bytes >> 20} MiB, {most} connections at once, {refused} refused");
        Console.WriteLine(string.Join(", ", Enum.GetValues<Kind>().Select(kind => $"{kind} {ended[(int)kind]}")));
        var faults = new List<string>();
        void Demand(bool holds, string fault) { if (!holds) faults.Add(fault); }
        Demand(wrong == 0, $"{wrong} wrong answers");
        Demand(!hang, "connections hang");
        Demand(most >= connections * 9 / 10, $"only {most} connections at once");
        Demand(ended.All(count => count > 0), "a kind never came");
        if (before.Count == 0 || after.Count == 0)
            faults.Add("the server has ended");
        else
        {
            Demand(after["failed"] == 0, "handlers failed");
            Demand(after["served"] - before["served"] >= whole, "fewer requests served than answered");
            Demand(IsBack(before, after), "not everything was given back");
        }
        try { await server.StandardInput.WriteLineAsync("stop"); server.StandardInput.Close(); }
        catch (IOException) { }
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(PatienceSeconds));
        try { await server.WaitForExitAsync(patience.Token); }
        catch (OperationCanceledException) { faults.Add("the server does not stop"); server.Kill(); await server.WaitForExitAsync(); }
        Demand(server.ExitCode == 0, "the server ends with " + server.ExitCode);
        Console.WriteLine(faults.Count == 0 ? "storm passed" : "storm failed: " + string.Join(", ", faults));
        return faults.Count == 0;
    }

    static string Text(Dictionary<string, long> figures) => string.Join(" ", figures.Select(figure => figure.Key + "=" + figure.Value));

    // Threads of the pool end after 20 s without work, and some more may be there while the figures are taken.
    static bool IsBack(Dictionary<string, long> before, Dictionary<string, long> now) =>
        now["connections"] == 0 && now["inside"] == 0 && now["sockets"] <= before["sockets"] && now["descriptors"] <= before["descriptors"] + 2 &&
        now["threads"] <= before["threads"] + 8 && now["pool"] <= before["pool"] + 8 && now["live"] <= before["live"] + LiveSlackKib && now["resident"] <= before["resident"] + ResidentSlackKib;

    // The figures when nothing is left to be given back, or the last ones.
    static async Task<Dictionary<string, long>> Settled(Process server, Dictionary<string, long>? before)
    {
        var figures = new Dictionary<string, long>();
        long live = long.MaxValue;
        for (int i = 0; i < 30; i++)
        {
            await Task.Delay(3000);
            try { await server.StandardInput.WriteLineAsync("figures"); }
            catch (IOException) { return []; }
            string? line = await server.StandardOutput.ReadLineAsync();
            if (line == null)
                return [];
            figures = line.Split(' ').Skip(1).Select(word => word.Split('=')).ToDictionary(pair => pair[0], pair => long.Parse(pair[1]));
            // Before the storm: when the pool's threads have ended.
            if (before == null ? i >= 8 && figures["connections"] == 0 && figures["live"] >= live * 99 / 100 : IsBack(before, figures))
                break;
            live = figures["live"];
        }
        return figures;
    }

    // Whether all connections ended.
    async Task<bool> Storm(double time)
    {
        using var end = new CancellationTokenSource(TimeSpan.FromSeconds(time));
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(time + PatienceSeconds));
        var all = Enumerable.Range(0, connections).Select(n => Task.Run(() => Connections(n, time, end.Token, patience.Token))).ToArray();
        var work = Task.WhenAll(all);
        while (await Task.WhenAny(work, Task.Delay(10_000)) != work)
            Console.Error.WriteLine($"{DateTime.Now:HH:mm:ss} {open} open, {Volatile.Read(ref whole)} whole answers, {Volatile.Read(ref wrong)} wrong");
        await work;
        return !patience.IsCancellationRequested;
    }

    async Task Connections(int number, double time, CancellationToken end, CancellationToken patience)
    {
        var random = new Random(number);
        // They come one after the other.
        await Task.Delay(random.Next((int)(Math.Min(time / 4, 10) * 1000)));
        do
        {
            int draw = random.Next(20);
            Kind kind = draw <= (int)Kind.Idles && draw > 0 ? (Kind)draw : Kind.Asks;
            var socket = await Connect(patience);
            if (socket == null)
                continue;
            int now = Interlocked.Increment(ref open);
            for (int seen; now > (seen = most) && Interlocked.CompareExchange(ref most, now, seen) != seen;) { }
            bool mayBreak = kind is Kind.ShutsDown or Kind.Resets or Kind.BreaksUpload or Kind.BreaksRequest;
            var connection = new Connection(socket, random, patience, text => doing[number] = text);
            try
            {
                await connection.Talk(kind, end);
                Interlocked.Increment(ref ended[(int)kind]);
            }
            catch (Exception e) when (mayBreak && e is EndOfStreamException or SocketException { SocketErrorCode: SocketError.ConnectionReset or SocketError.Shutdown })
            {
                // Kestrel takes the end of the requests for the end of the connection, unless the answer is there already.
                if (mayBreak)
                    Interlocked.Increment(ref ended[(int)kind]);
                else
                    Tell(number, kind, e);
            }
            catch (Exception e)
            {
                Tell(number, kind, e);
            }
            Interlocked.Add(ref mayBreak ? ref gift : ref whole, connection.Whole);
            Interlocked.Add(ref bytes, connection.Received);
            Interlocked.Decrement(ref open);
            socket.Dispose();
        } while (!end.IsCancellationRequested);
        doing[number] = null;
    }

    void Tell(int number, Kind kind, Exception e)
    {
        if (Interlocked.Increment(ref wrong) <= 10)
            Console.WriteLine($"{DateTime.Now:HH:mm:ss} connection {number}, {kind}, {doing[number]}: {e.GetType().Name}: {e.Message}");
    }

    // One after the other of the loopback's addresses, each of which has all ports. A full queue of the listener is waited for.
    async Task<Socket?> Connect(CancellationToken patience)
    {
        for (int i = 0; i < 500; i++)
        {
            var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
            try
            {
                await socket.ConnectAsync(new IPEndPoint(new IPAddress(new byte[] { 127, 0, 0, (byte)(1 + Random.Shared.Next(8)) }), port), patience);
                return socket;
            }
            catch (SocketException)
            {
                socket.Dispose();
                Interlocked.Increment(ref refused);
                await Task.Delay(50, patience);
            }
        }
        Interlocked.Increment(ref wrong);
        return null;
    }
}

/// One connection: whatever comes is compared while it comes.
class Connection(Socket socket, Random random, CancellationToken patience, Action<string> tell)
{
    readonly byte[] buffer = new byte[8192];
    int at, filled;
    bool isSlow;
    public long Whole, Received;

    public async Task Talk(Kind kind, CancellationToken end)
    {
        switch (kind)
        {
            case Kind.Asks:
                for (int i = random.Next(1, 30); i > 0 && (!end.IsCancellationRequested || Whole == 0); i--)
                {
                    await Ask(random.Next(Endpoints.Count));
                    if (random.Next(4) == 0)
                        await Task.Delay(random.Next(200), patience);
                }
                if (random.Next(8) == 0)
                    await Socket(Number(8));
                break;
            case Kind.Pipelines:
                for (int i = random.Next(1, 6); i > 0; i--)
                {
                    var all = Enumerable.Range(0, random.Next(2, 8)).Select(_ => Make(Number(random.Next(3) switch { 0 => 0, 1 => 4, _ => 3 }))).ToArray();
                    await Send(all.SelectMany(one => one.Bytes).ToArray());
                    foreach (var one in all)
                        await Answer(one);
                }
                break;
            case Kind.ReadsSlowly:
                socket.ReceiveBufferSize = 8192;
                isSlow = true;
                await Ask(Number(random.Next(3) switch { 0 => 5, 1 => 12, _ => 100 }), 200_000 + random.Next(1_500_000));
                break;
            case Kind.ShutsDown:
                var request = Make(random.Next(Endpoints.Count));
                await Send(request.Bytes);
                if (random.Next(2) == 0)
                    await Task.Delay(random.Next(50), patience);
                socket.Shutdown(SocketShutdown.Send);
                await Answer(request);
                break;
            case Kind.Resets:
                request = Make(Number(random.Next(2) == 0 ? 5 : 12), 100_000 + random.Next(1_000_000));
                await Send(request.Bytes);
                // Less than there is, so that none waits for bytes that do not come.
                for (int i = random.Next(4); i > 0; i--)
                    await Fill();
                socket.LingerState = new LingerOption(true, 0);
                break;
            case Kind.BreaksUpload:
                request = Make(Number(random.Next(3) switch { 0 => 2, 1 => 9, _ => 10 }));
                int head = request.Bytes.AsSpan().IndexOf("\r\n\r\n"u8) + 4;
                await Send(request.Bytes.AsMemory(0, random.Next(head, request.Bytes.Length)));
                await Task.Delay(random.Next(50), patience);
                if (random.Next(2) == 0)
                    socket.LingerState = new LingerOption(true, 0);
                break;
            case Kind.BreaksRequest:
                request = Make(random.Next(Endpoints.Count));
                await Send(request.Bytes.AsMemory(0, random.Next(request.Bytes.Length)));
                break;
            case Kind.SpeaksWebSocket:
                await Socket(Number(8));
                break;
            case Kind.Idles:
                try { await Task.Delay(random.Next(10_000), end); }
                catch (OperationCanceledException) { }
                await Ask(random.Next(Endpoints.Count));
                break;
        }
    }

    // An endpoint that does the work KIND.
    int Number(int kind)
    {
        if (kind == 100)
            return Endpoints.Count;
        int rounds = (Endpoints.Count - 1 - kind) / Endpoints.Kinds;
        return kind + Endpoints.Kinds * random.Next(rounds + 1);
    }

    record struct Request(string Path, byte[] Bytes, int Status, ReadOnlyMemory<byte> Body);

    Request Make(int number, int length = -1)
    {
        int at = random.Next(1000);
        if (length < 0)
            length = random.Next(10) == 0 ? random.Next(400_000) : random.Next(40_000);
        Request Get(string path, int status, ReadOnlyMemory<byte> body) => new(path, Encoding.ASCII.GetBytes($"GET {path} HTTP/1.1\r\nHost: storm\r\n\r\n"), status, body);
        Request Text(string path, string text, int status = 200) => Get(path, status, Encoding.ASCII.GetBytes(text));
        Request Post(ReadOnlySpan<byte> body, ReadOnlyMemory<byte> answer, string type = "application/octet-stream")
        {
            byte[] head = Encoding.ASCII.GetBytes($"POST /e{number} HTTP/1.1\r\nHost: storm\r\nContent-Type: {type}\r\nContent-Length: {body.Length}\r\n\r\n");
            var all = new byte[head.Length + body.Length];
            head.CopyTo(all, 0);
            body.CopyTo(all.AsSpan(head.Length));
            return new("/e" + number, all, 200, answer);
        }
        if (number >= Endpoints.Count || number % Endpoints.Kinds == 8)
            return Get("/files/" + Endpoints.FileName, 200, Pattern.Bytes.AsMemory(0, Endpoints.FileLength));
        var upload = Pattern.Bytes.AsMemory(at, length);
        string path = "/e" + number;
        switch (number % Endpoints.Kinds)
        {
            case 0: return Text(path, $"text {number}");
            case 1: return Get($"{path}?at={at}", 200, JsonSerializer.SerializeToUtf8Bytes(new Answer(number, Pattern.Text(at, 300)), JsonSerializerOptions.Web));
            case 2: return Post(upload.Span, Encoding.ASCII.GetBytes(Pattern.Sum((ulong)number, upload.Span).ToString()));
            case 3: return Text(path, $"blocked {number}");
            case 4: return Text(path, $"awaited {number}");
            case 5: return Get($"{path}?at={at}&length={length}", 200, upload);
            case 6: return Text(path, $"endpoint {number} throws", 500);
            case 7:
                var answer = new Answer(at, Pattern.Text(at, 50));
                return Post(JsonSerializer.SerializeToUtf8Bytes(answer), JsonSerializer.SerializeToUtf8Bytes(answer with { Number = at + number }, JsonSerializerOptions.Web),
                    "application/json");
            case 9: return Post(upload.Span, upload);
            case 10: return Post(upload.Span, Encoding.ASCII.GetBytes(Convert.ToHexString(SHA256.HashData(upload.Span))));
            case 11: return Get($"{path}?at={at}", 200, Pattern.Bytes.AsMemory(at, 50));
            default: return Get($"{path}?at={at}&length={length}", 200, upload);
        }
    }

    async Task Ask(int number, int length = -1)
    {
        var request = Make(number, length);
        int cut = random.Next(6) == 0 ? random.Next(1, request.Bytes.Length) : request.Bytes.Length;
        await Send(request.Bytes.AsMemory(0, cut));
        // What is sent back while it comes must be read before all is sent, or both wait.
        var rest = cut < request.Bytes.Length ? Send(request.Bytes.AsMemory(cut)) : Task.CompletedTask;
        await Answer(request);
        await rest;
    }

    async Task Send(ReadOnlyMemory<byte> bytes)
    {
        while (bytes.Length > 0)
            bytes = bytes[await socket.SendAsync(bytes, SocketFlags.None, patience)..];
    }

    // Makes the buffer hold bytes that were not there.
    async Task<bool> Fill()
    {
        if (at == filled)
            at = filled = 0;
        else if (filled == buffer.Length)
        {
            buffer.AsSpan(at, filled - at).CopyTo(buffer);
            (at, filled) = (0, filled - at);
        }
        if (isSlow && Received < 400_000)
            await Task.Delay(20, patience);
        int got = await socket.ReceiveAsync(buffer.AsMemory(filled), SocketFlags.None, patience);
        filled += got;
        Received += got;
        return got > 0;
    }

    async Task<string> Line()
    {
        int length;
        while ((length = buffer.AsSpan(at, filled - at).IndexOf("\r\n"u8)) < 0)
            if (!await Fill())
                throw new EndOfStreamException("after " + Received);
        string line = Encoding.ASCII.GetString(buffer, at, length);
        at += length + 2;
        return line;
    }

    // One answer, with a length or in chunks.
    async Task Answer(Request request)
    {
        tell(request.Path);
        string status = await Line();
        if (!status.StartsWith($"HTTP/1.1 {request.Status} "))
            throw new InvalidDataException($"{request.Path}: {status}");
        int length = -1;
        for (string line; (line = await Line()).Length > 0;)
            if (line.StartsWith("Content-Length: "))
                length = int.Parse(line[16..]);
        if (length >= 0)
            await Compare(request, 0, length);
        int done = Math.Max(length, 0);
        while (length < 0)
        {
            int chunk = Convert.ToInt32(await Line(), 16);
            await Compare(request, done, chunk);
            done += chunk;
            if ((await Line()).Length > 0)
                throw new InvalidDataException($"{request.Path}: no end of a chunk");
            if (chunk == 0)
                break;
        }
        if (done != request.Body.Length)
            throw new InvalidDataException($"{request.Path}: {done} bytes in place of {request.Body.Length}");
        Whole++;
    }

    async Task Compare(Request request, int done, int length)
    {
        if (done + length > request.Body.Length)
            throw new InvalidDataException($"{request.Path}: {done + length} bytes and more in place of {request.Body.Length}");
        for (int part; length > 0; length -= part, done += part, at += part)
        {
            if (at == filled && !await Fill())
                throw new EndOfStreamException($"{request.Path}: {done} bytes of {request.Body.Length}");
            part = Math.Min(length, filled - at);
            if (!buffer.AsSpan(at, part).SequenceEqual(request.Body.Span.Slice(done, part)))
                throw new InvalidDataException($"{request.Path}: other bytes after {done} of {request.Body.Length}");
        }
    }

    // The last thing on a connection: messages that come back.
    async Task Socket(int number)
    {
        tell($"/e{number} by WebSocket");
        await Send(Encoding.ASCII.GetBytes($"GET /e{number} HTTP/1.1\r\nHost: storm\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
        bool isAccepted = (await Line()).StartsWith("HTTP/1.1 101 ");
        for (string line; (line = await Line()).Length > 0;)
            if (line.StartsWith("Sec-WebSocket-Accept: "))
                isAccepted &= line.EndsWith(" s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        if (!isAccepted || at < filled)
            throw new InvalidDataException("no WebSocket");
        using var web = WebSocket.CreateFromStream(new NetworkStream(socket), new WebSocketCreationOptions());
        for (int i = random.Next(1, 10); i > 0; i--)
        {
            int from = random.Next(1000), length = random.Next(10_000);
            await web.SendAsync(Pattern.Bytes.AsMemory(from, length), WebSocketMessageType.Text, true, patience);
            for (int done = 0; ;)
            {
                var got = await web.ReceiveAsync(buffer.AsMemory(), patience);
                if (done + got.Count > length || !buffer.AsSpan(0, got.Count).SequenceEqual(Pattern.Bytes.AsSpan(from + done, got.Count)))
                    throw new InvalidDataException($"other bytes of a message after {done} of {length}");
                done += got.Count;
                Received += got.Count;
                if (!got.EndOfMessage)
                    continue;
                if (done != length)
                    throw new InvalidDataException($"a message of {done} bytes in place of {length}");
                break;
            }
        }
        Whole++;
        if (random.Next(3) == 0)
            socket.LingerState = new LingerOption(true, 0);
        else
            await web.CloseAsync(WebSocketCloseStatus.NormalClosure, null, patience);
    }
}
