// TLS over a socket, and certificates, through libmono-btls.
using System;
using System.IO;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Threading.Tasks;

static class Program {
    static void Main ()
    {
        var certificate = new X509Certificate2 (Convert.FromBase64String (Pfx), "sweep");
        Console.WriteLine ("{0} {1} {2}", certificate.Subject, certificate.HasPrivateKey, certificate.Thumbprint.Length);
        var listener = new TcpListener (IPAddress.Loopback, 0);
        listener.Start ();
        var server = Task.Run (() => {
            using (var client = listener.AcceptTcpClient ())
            using (var stream = new SslStream (client.GetStream ())) {
                stream.AuthenticateAsServer (certificate);
                var reader = new StreamReader (stream);
                var writer = new StreamWriter (stream) { AutoFlush = true };
                writer.WriteLine ("echo of " + reader.ReadLine ());
            }
        });
        using (var client = new TcpClient ()) {
            client.Connect ((IPEndPoint) listener.LocalEndpoint);
            using (var stream = new SslStream (client.GetStream (), false, (o, c, chain, errors) => c.Subject == "CN=localhost")) {
                stream.AuthenticateAsClient ("localhost");
                var writer = new StreamWriter (stream) { AutoFlush = true };
                writer.WriteLine (new string ('x', 3));
                Console.WriteLine ("{0} {1}", stream.IsEncrypted, new StreamReader (stream).ReadLine ());
            }
        }
        server.Wait ();
        try {
            new X509Certificate2 (new byte[] { 1, 2, 3 });
        } catch (System.Security.Cryptography.CryptographicException) {
            Console.WriteLine ("garbage is refused");
        }
    }
    // A key pair made for this test.
    const string Pfx =
        "MIIJSQIBAzCCCQ8GCSqGSIb3DQEHAaCCCQAEggj8MIII+DCCA68GCSqGSIb3DQEHBqCCA6AwggOcAgEAMIIDlQYJKoZIhvcNAQcBMBwGCiqGSI" +
        "b3DQEMAQYwDgQIsxTiMmEyfFACAggAgIIDaI+2GGyPCksoiIsiypTfFjW0lCWDkmvUV1DKRgYq3mrLOnK++ccimbyiqKSufCALYeqGOkDzY5UH" +
        "VijhaPGpn6vpV+rfa8LSFv6vXgZE7jFqLFRflLyLOnIru9F+npLTFTcKG3R+MQoC7sOZcniI+DTH977v+8cGzsm91TneBKZ871Zh8mZvFur0nV" +
        "eb54ayVpNl7ooFOFkKPzaAskvqvSOOcZLCBfk52c+w9ttr7NVZ/XutHRjURckQMFwQv+7krAlJl2U9jH/dhDj4iZgN/+v1CTqZX0Wv7rTAxI/K" +
        "QcFovzbrZ9F36RgEwW2+h7EutQJFuzKiBDrnRUJb7EkXz6KUVpJRYtb3IBKiiBFMkqEQYpTsigNVSm9dR2i+frTaR2boZPu/da18pnd5WoeYpG" +
        "eXttFYbTseuCssFkLQwnRYEGmQC+O6W1dly9TXKrKse2GlDmDela0jlYvXIeXewCUofFq7VdYjYFq/xtKSYn3iFxbjP5Fz9OV/+SGNdJU8FWdM" +
        "sDPS0SM/TLu2H93iMCx/+07ITZ8+HY+JgTBQJ3+YXeU7LktFFpVb9M5SZTxMlM72gHJ2OuXLx9hiRTHhljBigv1ye2mQ1Mf6tTYHbGAdZ+Y/8j" +
        "ST0TUMEePhNEUtP5G9AdTLElFf1af+/4kYc31abcwI6Keibe6DlqevtZ4Q5ti06XwsZCqUHjm5c8Nmvu6eAwzYO+F0tBLkSMzK5dzyAkS+iolC" +
        "Jae+a/4gIUjeuIXKtEtMeRozqqoTbRbkXAGLIN5VrxtVvd5NGg3xZO1b9kWgld7zUC0VcyLwjT2X9qHsiIYd8RIFeqLTujWrpoiwj011qq4eO2" +
        "1AHeP4zY8CT16meA0HRa1sJTGPKVy1ZJlQnRydTerSH+WYHi4ar0sdOPPQw0Ocat6VAT49mL8v32NrPB2IduCycW26c4fAmwt7EOXa2tlGLDI5" +
        "4fHkfX4kJI8GsZA7WcRZB/8gzdY4YPODVj/mtbb6hnjDEVA4ZTjcQqf+RMQ0Bf2M+TrJ2svvmJYzocsYOg7yXhWUwxGfDfhnc8/9+ySO5bBGHi" +
        "kpYGCmCGFCFx2uijdc1xktivFRhwhpS6COjzv3hbxbGcTKmxfmZ7WtUGprx6IbPKUDXHmUbSD5yYhf8f8qNimDBk5oK0BINT/kMIIFQQYJKoZI" +
        "hvcNAQcBoIIFMgSCBS4wggUqMIIFJgYLKoZIhvcNAQwKAQKgggTuMIIE6jAcBgoqhkiG9w0BDAEDMA4ECET9pe53J+vjAgIIAASCBMgokRw7Bp" +
        "6Vm3gYgytxOpTdqlLM18x6rj5+sPY5pgeyx4S3rpaTSEslAdkrb9EIx0BQ8Bm06+seg1HIbX0iRigEzKA6oiF/ILujDfxUAiizLdY4Haz/BblA" +
        "vNWYbDBgYn1hhGu49M9IcBxpxGMFG8m9WKr0FZCcT8saJqTqRcumA3aCZAyZf6s/8dm11uNUVyNVU0pCLna1mEncsfQyE6cUP2LI8ZjSVaVAeL" +
        "py/FmsrRuoz9IdxRZXDKyCwvWyFXTdkNHPozUp68AViJEmaEmrpQdV4FoOmnWRkxuivtvsDj1XqqwyNdJ4eoe0Js2SfcI3idUd7e7dw1omO8Nu" +
        "EuVqdL5R5ClJ4sMhfmROW96PfiPf9Utr8uhGwiwZmhIKDxqG6Q0oXFoSUVuHy4DikWfmt/+b1bSshqgqw8Cxklo8rVmV7fS499a4A+k/QP/yls" +
        "Z6Dz6fryBqlry4P7I3je2nsyonWwSrl9lcF6jqp2dxr5koqhQp6UtKNWN9vQwdH2nUYHlFRS1jhksS28tkoY6TK1eZeaPJnlz/Zx1e4SrcJe3x" +
        "k4HAJC2GkbDMJLnJFfAY0KgdKpBU8CH+nfz3KfuLfzwu2ipBPpbVloT6E/HqhXncd77D0bMbIJpVUK2sQqBhzYMmFdZTJpbAuQDszYHxDbYio+" +
        "krebnBg6mvHG7Bqiq2h3Ps4DEF9IT2KKTm0i8jPiQ2VG/nrqNHvCHXilvj/Hn3mLpxS26N+YovI93nCplbEbxThKZWLWMGWHfS800+MdJ1P+7e" +
        "LwrC1fS5k3k+TSgT9ER6yaDbNiBuebDsmd0TbtJfNv5Y8qwDi7Uyq5i+OKJVBb3Bii9lEBtOVXQgxc8OshwyOWIA0leZ2wu9PNjpG7SgPBAX9+" +
        "OlmubxJ38JMv8CJg1cHjlHIFt4IDGMBlIvnK8lGnMwg6uRPiBpDDeTTXAigX6vYzuT2qPKjXK7UvAifH7AWTiGYl8vFbnuWSVBGbQDDkHnZVMC" +
        "en8VwbC8YWMbT0cjo7fb6AABSeL4xdgpiB50yiQLPaC25yrVsiyLxQK+GHr5NyQkI48o4OzbhkfYUBy3VS/vOaqBNFj9YN2j6bVgWkvpMtgtch" +
        "dI4Wk5NV8VxmX3UU9NFsG9V5ky8vL2SyWW4FRHhmMpCMWdOtqeI9sbMCureIodzrUrlxWwApBaDh9o6+X8yw8w8Uzl3wKfN46TYPVcfX42ACPP" +
        "No3YwI8Ep12DfIMRL1IBsY4VPtg6/fF0fODOyjq5wczB03pe0cQal5XwKnFmT7SYNxMRwXU29TnpbErevSCPITA3CRsFMh+6G6xBS1AH4Z17JZ" +
        "LiQxpz1WCc8oMzp/KRWHHrOAM4csRWY4wdVcZ0c0XTIsffXtcI2SC4CgdD4A7RdvdS/d/DkG1HILP2kDrT3fj3sLqgEc7CAiBtVRa5E+xgRjwk" +
        "JIvl8f5wRQP1CGbd+/jQ7eaHpLRDttybqYho0VAzx/Y1hEP+UZ53IwD9ciRv7m/JefEW/ny0jmR0ldmwiJY/DqzU9V6ltBlCuxVLCD2JIiplLB" +
        "lPGX2ATbeaDACnPptilMS0Oos2L+7q2qNoeStv2sF/c9rMlSd14sBO8AJOzBA4dOydxQ8WS/mpaL+5CzuLLmIxJTAjBgkqhkiG9w0BCRUxFgQU" +
        "UE8+CRCVfZsp2o5760hnWW1NMs0wMTAhMAkGBSsOAwIaBQAEFM5luVS5qTpLAKM9EMCMb7oFk3QlBAiuj50g0wZsVgICCAA=";
}
