// What a bundle must be able to do where there is no Mono: reach each of Mono's native libraries and its configuration.
using System;
using System.Configuration;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Net;
using System.Net.Sockets;
using System.Numerics;
using System.Reflection;
using System.Security.Cryptography;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using System.Xml.Linq;

static class Check
{
    static int failed;

    static void That (string what, Func<bool> holds)
    {
        try {
            if (holds ())
                return;
            Console.WriteLine ("wrong: " + what);
        } catch (Exception e) {
            Console.WriteLine (what + ": " + e);
        }
        failed++;
    }

    static bool Compresses ()
    {
        var packed = new MemoryStream ();
        byte[] bytes = Enumerable.Range (0, 100000).Select (i => (byte) (i % 7)).ToArray ();
        using (var stream = new GZipStream (packed, CompressionMode.Compress, true))
            stream.Write (bytes, 0, bytes.Length);
        long packedLength = packed.Length;
        packed.Position = 0;
        var unpacked = new MemoryStream ();
        using (var stream = new GZipStream (packed, CompressionMode.Decompress))
            stream.CopyTo (unpacked);
        return packedLength < 5000 && unpacked.ToArray ().SequenceEqual (bytes);
    }

    static bool Connects ()
    {
        var listener = new TcpListener (IPAddress.Loopback, 0);
        listener.Start ();
        Task<string> read = Task.Run (() => {
            using (TcpClient client = listener.AcceptTcpClient ())
                return new StreamReader (client.GetStream ()).ReadLine ();
        });
        using (var client = new TcpClient ("127.0.0.1", ((IPEndPoint) listener.LocalEndpoint).Port)) {
            byte[] line = Encoding.ASCII.GetBytes ("line\n");
            client.GetStream ().Write (line, 0, line.Length);
            return read.Result == "line";
        }
    }

    // The provider of TLS is a native library.
    static bool HasTls ()
    {
        Type provider = typeof (Uri).Assembly.GetType ("Mono.Net.Security.MonoTlsProviderFactory");
        object found = provider.GetMethod ("GetProvider", BindingFlags.NonPublic | BindingFlags.Static, null, Type.EmptyTypes, null).Invoke (null, null);
        return found.GetType ().Name.Contains ("Btls");
    }

    static bool FindsFiles ()
    {
        string folder = Path.Combine (Path.GetTempPath (), Guid.NewGuid ().ToString ());
        Directory.CreateDirectory (folder);
        File.WriteAllText (Path.Combine (folder, "a"), "text");
        File.Copy (Path.Combine (folder, "a"), Path.Combine (folder, "b"));
        bool found = Directory.GetFiles (folder).Length == 2 && new FileInfo (Path.Combine (folder, "b")).Length == 4;
        Directory.Delete (folder, true);
        return found;
    }

    static int Main ()
    {
        That ("files (libmono-native)", FindsFiles);
        That ("compression (libMonoPosixHelper)", Compresses);
        That ("sockets", Connects);
        That ("TLS (libmono-btls-shared)", HasTls);
        That ("machine.config", () => ConfigurationManager.OpenMachineConfiguration ().HasFile);
        That ("processes", () => Process.Start (new ProcessStartInfo ("/bin/true") { UseShellExecute = false }).WaitForExit (10000));
        That ("numbers", () => BigInteger.Pow (3, 100).ToString () == "515377520732011331036461129765621272702107522001");
        That ("cultures", () => 1234.5.ToString ("N", CultureInfo.GetCultureInfo ("de-DE")) == "1.234,50");
        That ("XML", () => XElement.Parse ("<a><b>c</b></a>").Element ("b").Value == "c");
        That ("hashes", () => SHA256.Create ().ComputeHash (new byte[0])[0] == 0xe3);
        That ("code pages", () => Encoding.GetEncoding (932).GetString (new byte[] { 0x82, 0xa0 }) == "\u3042");
        That ("threads", () => Enumerable.Range (0, 1000).AsParallel ().Sum () == 499500);
        That ("assemblies", () => Assembly.Load ("System.Windows.Forms, Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089") != null);
        Console.WriteLine (failed == 0 ? "all is there" : failed + " failed");
        return failed;
    }
}
