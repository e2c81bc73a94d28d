// io: each
// Names of hosts: looked up by threads and asynchronously, many at once. Only what every machine knows is asked for: "localhost", its addresses, and a name that cannot exist.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;

class NameLookups
{
    static void Main()
    {
        var localhost = Dns.GetHostAddresses("localhost");
        Console.WriteLine("localhost: " + localhost.All(IPAddress.IsLoopback) + " " + localhost.Contains(IPAddress.Loopback));
        Console.WriteLine("by address: " + Dns.GetHostEntry("127.0.0.1").AddressList.Contains(IPAddress.Loopback));
        Console.WriteLine("an address is itself: " + Dns.GetHostAddresses("192.0.2.7")[0]);
        Console.WriteLine("own name: " + (Dns.GetHostName().Length > 0));
        Console.WriteLine("unknown: " + ErrorOf(() => Dns.GetHostAddresses("a name with spaces")));
        Threads();
        Asynchronously();
        Tasks().Wait();
        Connect();
    }

    static string ErrorOf(Action action)
    {
        try
        {
            action();
            return "none";
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode.ToString();
        }
    }

    static void Threads()
    {
        int right = 0, wrong = 0;
        var threads = Enumerable.Range(0, 60).Select(i => new Thread(() =>
        {
            if (i % 3 == 0)
            {
                if (ErrorOf(() => Dns.GetHostAddresses("no such name " + i)) != "none")
                    Interlocked.Increment(ref wrong);
            }
            else if (Dns.GetHostAddresses("localhost").Contains(IPAddress.Loopback))
                Interlocked.Increment(ref right);
        })).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("by threads: " + right + " " + wrong);
    }

    static void Asynchronously()
    {
        var begun = Enumerable.Range(0, 20).Select(i => Dns.BeginGetHostAddresses("localhost", null, null)).ToList();
        Console.WriteLine("asynchronously: " + begun.Count(one => Dns.EndGetHostAddresses(one).Contains(IPAddress.Loopback)));
        var failing = Dns.BeginGetHostAddresses("no such name", null, null);
        Console.WriteLine("unknown: " + ErrorOf(() => Dns.EndGetHostAddresses(failing)));
    }

    static async Task Tasks()
    {
        var found = await Task.WhenAll(Enumerable.Range(0, 20).Select(i => Dns.GetHostEntryAsync("localhost")));
        Console.WriteLine("by tasks: " + found.Count(entry => entry.AddressList.Contains(IPAddress.Loopback)));
    }

    // By name, which may mean several addresses.
    static void Connect()
    {
        var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        int port = ((IPEndPoint)listener.LocalEndpoint).Port;
        using (var client = new TcpClient("localhost", port))
        using (var accepted = listener.AcceptTcpClient())
            Console.WriteLine("connected: " + client.Connected);
        listener.Stop();
    }
}
