// `./x bench --suite io`: servers, which run until they are killed, and benchmarks that measure themselves and print "NAME VALUE".
using System;
using System.Globalization;

static class Program
{
    static int Main(string[] arguments)
    {
        switch (arguments[0])
        {
            case "raw": Server.Raw(int.Parse(arguments[1], CultureInfo.InvariantCulture)); break;
            case "listener": Server.Listener(int.Parse(arguments[1], CultureInfo.InvariantCulture)); break;
            case "pipe": Transfers.PipePingPong(); break;
            case "copy": Transfers.CopyFile(); break;
            case "tls": Handshakes.Measure(arguments[1]); break;
            default: Console.Error.WriteLine("no such benchmark: " + arguments[0]); return 2;
        }
        return 0;
    }

    public static void Print(string name, double value)
    {
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1:F3}", name, value));
    }
}
