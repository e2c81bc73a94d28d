// io: each
// TLS by SslStream with a certificate of its own: threads that wait, tasks, ends of connections. A handshake or a read that waits holds no thread of the system where waits park.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

class Tls
{
    // For "localhost", until 2126; made with openssl for this program alone. The password is "x".
    const string Pkcs12 =
        "MIIJSQIBAzCCCQ8GCSqGSIb3DQEHAaCCCQAEggj8MIII+DCCA68GCSqGSIb3DQEHBqCCA6AwggOcAgEAMIIDlQYJKoZIhvcNAQcBMBwGCiqGSIb3DQEMAQMwDgQIAMgtd/AOxdQCAgPo" +
        "gIIDaKRrc3IivBDhwLMMbYDbjzuxN2zL6+dHJvIQkoGFVz/PFiwltkAeMhTMZrsf4quAjVp9CbwODTk0Qg9r/ZJy8lxizGSVaTCyXr1FyXE4g8F/cZHgUPCrW2Kygk5/ygxrAv2frajD" +
        "jws8SfvhduCTqlyO82lVrYmJE3XqtZoU0LGf/jj3NLzXQGdqqAnNtNFl7eIBQx4TyTIoWrSUoj16pHsFDQSxwMqYCNObtfzOuSS3Kc+lEmvwfNVuLuvXi3l+hU0UOMRgviB+NQ8xrJ9x" +
        "G2+9XfadVBSp61s1OQ/PzrL228YccigAnqGRrCNpGTG6xkwu/tESe9q6a2A+fJyr6zvL/k1vFv4UxRpAB3eEr8EpvE8AIU7o+wpP5kL+6Ebi6WUIpcfn/P2u713HZLH+JHIu58IGM58h" +
        "2/DYDSWOSNDU0PCjtrZOKIfwKfyEIaZ8DHG6Fxvcp9xAEIZxS6gZsAq30HPFd0KBaty9MRJ1mf+U2BJ9TqHE3xtmmCo9y61UZnyU8O8Po6fC65yT1I3lgNNPiaQL+nJRgPBTghFJrhfW" +
        "bzcSKfii0/Wh6ZNLncwOvePndfiD+n7kjqngCT0q+y21P3eUlRl7Vj2HKiEl9LIs5CyyuVYgQL3w6UWrXiRWvEnnKBOQXpqr/c/p1WaSfcxzrYY7Sev+IwWbh72pTBxJDBqeXM3duZu2" +
        "gGB13+JY9vYTlGgP/8sa9KsZVcuSrfY8n1cBpqqQjDC3vY3nAKLqRYK162Z5LcGqf8jcoDRDSrcNZpH2lGETgB2Ys+SgoPiYf8YlFmMbVp4+b7LTd+Pam8RETg/4sNi388bk9O/dzhbd" +
        "jLal3qLkNYtT3eSf0Jyw4xUII77OGygcYYixSXYCSk1oN75s+IfRiy507EUydKYafqUJ1lz704+4/Y+UJJk9wCYtkmmwvG/jQYxVPJz+hcy+JyyVTkG4zr2eB+1qL5CjnuBA59jBSjqL" +
        "q9YP9BmXcNSozXKU4pXBOfmBeKP+99pVgSE+yilObr1ffjwAV1WKU8IU9JL5TzEK4FXxGevepl/Ob8ylvvSdEHrjf+YRt8Lw7J9popiSiKCp+tBLZZ6mQ39N4y8b8HDel/QjKv9Zk9SQ" +
        "WnyoS0tBDs+2FGp2c7YBSzUQjL3fEfgZmi5WLTqD2JdTzq3QMIIFQQYJKoZIhvcNAQcBoIIFMgSCBS4wggUqMIIFJgYLKoZIhvcNAQwKAQKgggTuMIIE6jAcBgoqhkiG9w0BDAEDMA4E" +
        "COI7Nxr1Hb6FAgID6ASCBMh1uGCZ0Ou6rqxlPyBiDABunFJf6geBZ1CTgm68ip1KzVXIqrJ3UpSWUVFUr9vkj/1rjvYxy3Naz4+paRd8+PcsIrZMYdKnhoi1Ghonfe+8dSMnnGTsCgt8" +
        "LD/c3mZu0ykV6QwwNwnKUMZHMmzx3DBu00Sy3P1kla75j/72LRGqQgCE6Q9/s1XNnPAJeoyTu0IYGW0Hq2W6eXYTeVzCr9BQdeuU1X5lj+uA9hT703gHPz3DALbweZOGdyObkHapA8ez" +
        "Umqcix2vNqD+nhk3siCsBS18NJ0QR4HR/KOMrkjlQy9A0frq7hFDc7VsDFlXk1UFkvZqIYDjQemcvcfmRH3SOc0dk8RmWQoJanwSanRpFDkYE88cyB1Vy4vfbzozliyMAFVdIPdET2wG" +
        "+b2t6eTK0+d+sZm97wNCxw1O3FQLBzdthM4+Tps6wC+OYBzsNleSvvxMFv3m+ivlG8TrPleQszD+ESqAWxUiyietq/HDOyeA/eMPOs1N/XXqwx8kUffN1aJuOkvYZZ/cpmW3lBTJRXVd" +
        "VVM44qNcRJ35Bgy0Dme5hjlNLKX7kfxjJcaOwwgKKulUIinYvlY7XXEHyiPGEBnGzikx8e1zJO8MLIpDIT77AmyK9GR/bfYl8JmDL2XqIvbO1SraR9LftKQUNLZ1sVo7oAyMJclYQDTq" +
        "DAYeoyvVK07UCPDwOqGeYC+YAhSF4ASjBDFuWpYJ6I5028/gD1SlgLF874CZFaHSJGSuZtzSAy7aqG/SiLh0kb65D/JfwH3K2afkSJ02v6rfGyI/eJhcO9r1szvh7XuXx6Fx5cCrY8xG" +
        "ti2iYZznyyh3rUtuSVy85DLMJ/rtp2E3tIytiMz5OSOXrLREg2z46hnFaFfDFPmHa/c7AzjfcCsfuKHLDHyrVvSnEIw6Tk91GUauS+qifdeXMv6D9TK6GPyx0iqgSqutdPNRX3JAX202" +
        "Y1LFby/EP3BOhK2vsI/mBh5lYAOk+PupXwLtXjTur79Z1JcEFBucHiztrqcC0e6EiYeio1JCpZNeX6hahToMwhM6p6i83EUxcBQRY+o0avOsB2FyRQMdxiA/rpQFB3/vB+P6v4/bp8cq" +
        "ORladpWlL+7RyEcOGpROURNYvcS2CUu9nB9fuPQ18dHLZszRgnE3hToUVJ9UitRtw1GY5+gt2aUTcvUiSxA12qovr053My1W5P2bqetlGg87Vpw53TYoXDxMB2kjeSvg9h2xXWRHpXwW" +
        "MPnYJFl+jWCZBy2DP1sHr53BM/APEzpIzNgzg8mL3kkGgHzvzR7FehBM3lq2z0yZz4UsnzUegXfx8/BDn+HJCNsKqwL6o+H3IVmyJztPpJHcI7cFZg3xOynswRDnm2m0yotcSGnRAfXO" +
        "B5eDHro5Sbe3rSCo5t1+vmFFpSVGVgzAmv/2pEohpCKmfECWwxe7jWEI0BeyqcFoAiZzxQ0yujNy/2GntFxqLsxcB4/NIYjixs24ET+SspaCWLxgJkiNt1kmDOGEymLWJPqMZr4x/5ok" +
        "NfYjWrZidNzyxgGTPNzLhSDOtOtU/iqXsdBGmGnASesSuB2OdoOtoTt0ryiQSm9OC4JQ+g2CRZWco/5sOQ1sZiutrBw1EOrHEjLuI5PBoQOh3sNZlSgxJTAjBgkqhkiG9w0BCRUxFgQU" +
        "lsn2nrhtlrl0/ZDgpJnerA4olh8wMTAhMAkGBSsOAwIaBQAEFPmpnnACR/ch1kaSOTAvdxjksyu8BAhmf6Fklkt99wICA+g=";

    const int Limit = 20000;
    static readonly X509Certificate2 certificate = new X509Certificate2(Convert.FromBase64String(Pkcs12), "x");

    static void Main()
    {
        Echo();
        AsTasks().Wait();
        Refused();
        Ends();
        ManyWait();
    }

    static SslStream Server(TcpClient client)
    {
        var stream = new SslStream(client.GetStream(), false);
        stream.AuthenticateAsServer(certificate);
        return stream;
    }

    static SslStream Client(int port)
    {
        var client = new TcpClient();
        client.Connect(IPAddress.Loopback, port);
        var stream = new SslStream(client.GetStream(), false, (sender, cert, chain, errors) => cert.GetCertHashString() == certificate.GetCertHashString());
        stream.AuthenticateAsClient("localhost");
        return stream;
    }

    static TcpListener Listen(out int port)
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(512);
        port = ((IPEndPoint)listener.LocalEndpoint).Port;
        return listener;
    }

    static void ReadAll(Stream stream, byte[] buffer)
    {
        for (int got = 0; got < buffer.Length; )
        {
            int count = stream.Read(buffer, got, buffer.Length - got);
            if (count == 0)
                throw new Exception("the end came early");
            got += count;
        }
    }

    // A thread for each connection.
    static void Echo()
    {
        int port;
        var listener = Listen(out port);
        const int Clients = 4;
        var server = new Thread(() =>
        {
            for (int i = 0; i < Clients; i++)
            {
                var client = listener.AcceptTcpClient();
                new Thread(() =>
                {
                    using (var stream = Server(client))
                    {
                        var buffer = new byte[5000];
                        int count;
                        while ((count = stream.Read(buffer, 0, buffer.Length)) > 0)
                            stream.Write(buffer, 0, count);
                    }
                }).Start();
            }
        });
        server.Start();
        int right = 0;
        var clients = Enumerable.Range(0, Clients).Select(number => new Thread(() =>
        {
            using (var stream = Client(port))
            {
                var data = new byte[20000];
                var answer = new byte[data.Length];
                for (int i = 0; i < 3; i++)
                {
                    new Random(number + i).NextBytes(data);
                    stream.Write(data, 0, data.Length);
                    ReadAll(stream, answer);
                    if (answer.SequenceEqual(data))
                        Interlocked.Increment(ref right);
                }
            }
        })).ToList();
        clients.ForEach(thread => thread.Start());
        clients.ForEach(thread => thread.Join());
        server.Join();
        listener.Stop();
        Console.WriteLine("echo: " + right);
    }

    static async Task Serve(TcpListener listener)
    {
        using (var client = await listener.AcceptTcpClientAsync())
        using (var stream = new SslStream(client.GetStream(), false))
        {
            await stream.AuthenticateAsServerAsync(certificate);
            var reader = new StreamReader(stream);
            var writer = new StreamWriter(stream) { AutoFlush = true };
            for (string line; (line = await reader.ReadLineAsync()) != null; )
                await writer.WriteLineAsync(line.ToUpperInvariant());
        }
    }

    static async Task AsTasks()
    {
        int port;
        var listener = Listen(out port);
        var serving = Serve(listener);
        using (var client = new TcpClient())
        {
            await client.ConnectAsync(IPAddress.Loopback, port);
            using (var stream = new SslStream(client.GetStream(), false, (sender, cert, chain, errors) => true))
            {
                await stream.AuthenticateAsClientAsync("localhost");
                var reader = new StreamReader(stream);
                var writer = new StreamWriter(stream) { AutoFlush = true };
                await writer.WriteLineAsync("one");
                await writer.WriteLineAsync("two");
                Console.WriteLine("tasks: " + await reader.ReadLineAsync() + " " + await reader.ReadLineAsync());
            }
        }
        await serving;
        listener.Stop();
    }

    static string KindOf(Action action)
    {
        try
        {
            action();
            return "none";
        }
        catch (AuthenticationException)
        {
            return "authentication";
        }
        catch (IOException)
        {
            return "io";
        }
        catch (ObjectDisposedException)
        {
            return "disposed";
        }
    }

    static void Refused()
    {
        int port;
        var listener = Listen(out port);
        var server = new Thread(() => KindOf(() =>
        {
            using (var stream = Server(listener.AcceptTcpClient()))
                stream.ReadByte();
        }));
        server.Start();
        using (var client = new TcpClient("127.0.0.1", port))
        using (var stream = new SslStream(client.GetStream(), false, (sender, cert, chain, errors) => false))
            Console.WriteLine("refused: " + KindOf(() => stream.AuthenticateAsClient("localhost")));
        Console.WriteLine("server went on: " + server.Join(Limit));
        listener.Stop();
    }

    // The peer goes away in the handshake and while data are waited for.
    static void Ends()
    {
        int port;
        var listener = Listen(out port);
        TcpClient silent = null;
        var server = new Thread(() => { silent = listener.AcceptTcpClient(); Thread.Sleep(30); silent.Close(); });
        server.Start();
        Console.WriteLine("closed in the handshake: " + (KindOf(() => Client(port)) != "none"));
        server.Join();
        SslStream serving = null;
        server = new Thread(() => serving = Server(listener.AcceptTcpClient()));
        server.Start();
        using (var stream = Client(port))
        {
            server.Join();
            int got = -1;
            var reader = new Thread(() => got = stream.Read(new byte[1], 0, 1));
            reader.Start();
            Thread.Sleep(30);
            serving.Close();
            Console.WriteLine("closed: " + reader.Join(Limit) + " " + got);
        }
        listener.Stop();
    }

    // Connections on which a thread waits to read, and others a task.
    static void ManyWait()
    {
        const int Connections = 40;
        // A read of SslStream is one of the pool's threads, which Mono adds slowly.
        ThreadPool.SetMinThreads(100, 100);
        int port;
        var listener = Listen(out port);
        int answered = 0;
        var server = new Thread(() =>
        {
            for (int i = 0; i < Connections; i++)
            {
                var client = listener.AcceptTcpClient();
                new Thread(() =>
                {
                    using (var stream = Server(client))
                        stream.WriteByte((byte)stream.ReadByte());
                }, 256 << 10).Start();
            }
        });
        server.Start();
        var streams = Enumerable.Range(0, Connections).Select(i => Client(port)).ToList();
        server.Join();
        Thread.Sleep(50);
        int threads = Directory.GetDirectories("/proc/self/task").Length;
        string mode = Environment.GetEnvironmentVariable("SAKI_THREADS") ?? "native";
        bool mayBeMany = mode == "native" || Environment.GetEnvironmentVariable("SAKI_IO") == "blocking";
        // There may be a carrier for each processor.
        Console.WriteLine("threads of the system: " + (mayBeMany || threads < 26 + 2 * Environment.ProcessorCount ? "as expected" : "" + threads));
        foreach (var stream in streams)
        {
            stream.WriteByte(9);
            if (stream.ReadByte() == 9)
                answered++;
            stream.Close();
        }
        listener.Stop();
        Console.WriteLine("answered: " + answered);
    }
}
