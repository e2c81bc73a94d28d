// TLS handshakes between a server and a client in one process, each on a thread of its own.
using System;
using System.Diagnostics;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using System.Threading;

static class Handshakes
{
    const double Seconds = 3;
    const int Clients = 8;

    public static void Measure(string certificatePath)
    {
        var certificate = new X509Certificate2(certificatePath, "saki");
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start(1024);
        var server = new Thread(() =>
        {
            while (true)
            {
                TcpClient peer = listener.AcceptTcpClient();
                new Thread(() => Serve(peer, certificate)) { IsBackground = true }.Start();
            }
        }) { IsBackground = true };
        server.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        // What has to be loaded and compiled is, after the first.
        Shake(port);
        int done = 0;
        var watch = Stopwatch.StartNew();
        var clients = new Thread[Clients];
        for (int i = 0; i < Clients; i++)
        {
            clients[i] = new Thread(() =>
            {
                while (watch.Elapsed.TotalSeconds < Seconds)
                {
                    Shake(port);
                    Interlocked.Increment(ref done);
                }
            });
            clients[i].Start();
        }
        foreach (Thread client in clients)
            client.Join();
        Program.Print("handshakes", done / watch.Elapsed.TotalSeconds);
    }

    static void Serve(TcpClient peer, X509Certificate2 certificate)
    {
        peer.NoDelay = true;
        using (peer)
        using (var stream = new SslStream(peer.GetStream()))
        {
            stream.AuthenticateAsServer(certificate, false, SslProtocols.Tls12, false);
            stream.WriteByte(1);
        }
    }

    static void Shake(int port)
    {
        using (var client = new TcpClient("127.0.0.1", port) { NoDelay = true })
        using (var stream = new SslStream(client.GetStream(), false, (sender, certificate, chain, errors) => true))
        {
            stream.AuthenticateAsClient("localhost", null, SslProtocols.Tls12, false);
            if (stream.ReadByte() != 1)
                throw new InvalidOperationException("the server sent something else");
        }
    }
}
