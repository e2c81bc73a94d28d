// TCP and UDP sockets on the loopback interface, also asynchronously; their errors and time limits.
using System;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    static void Tcp()
    {
        TcpListener listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Thread server = new Thread(() =>
        {
            for (int i = 0; i < 3; i++)
                using (TcpClient client = listener.AcceptTcpClient())
                using (StreamReader reader = new StreamReader(client.GetStream()))
                using (StreamWriter writer = new StreamWriter(client.GetStream()))
                    writer.WriteLine("echo " + reader.ReadLine());
        });
        server.Start();
        for (int i = 0; i < 3; i++)
            using (TcpClient client = new TcpClient())
            {
                client.Connect((IPEndPoint)listener.LocalEndpoint);
                NetworkStream stream = client.GetStream();
                byte[] request = Encoding.ASCII.GetBytes("message " + i + "\n");
                stream.Write(request, 0, request.Length);
                Console.WriteLine(new StreamReader(stream).ReadLine());
            }
        server.Join();
        listener.Stop();
    }

    static async Task<int> TcpAsync()
    {
        TcpListener listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        Task<TcpClient> accept = listener.AcceptTcpClientAsync();
        TcpClient client = new TcpClient();
        await client.ConnectAsync(IPAddress.Loopback, ((IPEndPoint)listener.LocalEndpoint).Port);
        TcpClient server = await accept;
        byte[] data = new byte[100000], received = new byte[100000];
        data[99999] = 77;
        Task write = client.GetStream().WriteAsync(data, 0, data.Length);
        int total = 0;
        while (total < data.Length)
            total += await server.GetStream().ReadAsync(received, total, data.Length - total);
        await write;
        client.Close();
        int end = await server.GetStream().ReadAsync(received, 0, 1);
        listener.Stop();
        return total + received[99999] + end;
    }

    static void Udp()
    {
        using (UdpClient a = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0)))
        using (UdpClient b = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0)))
        {
            a.Send(new byte[] { 1, 2, 3 }, 3, (IPEndPoint)b.Client.LocalEndPoint);
            IPEndPoint from = null;
            Console.WriteLine("{0} {1}", b.Receive(ref from).Length, from.Equals(a.Client.LocalEndPoint));
        }
    }

    static void Errors()
    {
        TcpListener free = new TcpListener(IPAddress.Loopback, 0);
        free.Start();
        int port = ((IPEndPoint)free.LocalEndpoint).Port;
        free.Stop();
        try
        {
            new TcpClient().Connect(IPAddress.Loopback, port);
        }
        catch (SocketException e)
        {
            Console.WriteLine(e.SocketErrorCode);
        }
        using (Socket s = new Socket(AddressFamily.InterNetwork, SocketType.Dgram, ProtocolType.Udp))
        {
            s.Bind(new IPEndPoint(IPAddress.Loopback, 0));
            s.ReceiveTimeout = 20;
            try
            {
                s.Receive(new byte[1]);
            }
            catch (SocketException e)
            {
                Console.WriteLine(e.SocketErrorCode == SocketError.TimedOut || e.SocketErrorCode == SocketError.WouldBlock);
            }
            Console.WriteLine(s.Poll(1000, SelectMode.SelectWrite));
        }
    }

    static void Main()
    {
        Tcp();
        Console.WriteLine(TcpAsync().Result);
        Udp();
        Errors();
    }
}
