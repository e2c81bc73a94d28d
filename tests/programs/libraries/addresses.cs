// Internet addresses as values: parsing, comparison, byte order.
using System;
using System.Net;

static class Program
{
    static void Main()
    {
        Console.WriteLine("{0} {1}", IPAddress.Parse("127.0.0.1").Equals(IPAddress.Loopback), IPAddress.Parse("::1").AddressFamily);
        Console.WriteLine(BitConverter.ToString(BitConverter.GetBytes(IPAddress.HostToNetworkOrder(1))));
    }
}
