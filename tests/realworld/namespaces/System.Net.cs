// Sockets, HTTP, TLS, addresses, names.
// waits: Socket timeout: TimedOut, as .NET does; WouldBlock under Mono
// references: Mono.Posix System.Net.Http System.Web
using System;
using System.Collections.Generic;
using System.Collections.Specialized;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Net.Mail;
using System.Net.Mime;
using System.Net.NetworkInformation;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using System.Web;
using static Sweep;

static class Program {
    static int port;
    static string url;
    static HttpListener Serve ()
    {
        for (port = 23456 + System.Diagnostics.Process.GetCurrentProcess ().Id % 20000; ; port++) {
            try {
                var l = new HttpListener (); l.Prefixes.Add (url = "http://localhost:" + port + "/"); l.Start ();
                new Thread (() => { try { while (true) Answer (l.GetContext ()); } catch (Exception) { } }) { IsBackground = true }.Start ();
                return l;
            } catch (Exception) { }
        }
    }
    static void Answer (HttpListenerContext c)
    {
        var q = c.Request; var r = c.Response; string body = new StreamReader (q.InputStream, q.ContentEncoding).ReadToEnd ();
        switch (q.Url.AbsolutePath) {
        case "/redirect": r.Redirect (url + "echo?redirected=1"); r.Close (); return;
        case "/404": r.StatusCode = 404; r.StatusDescription = "Not here"; r.Close (); return;
        case "/chunked": r.SendChunked = true; for (int i = 0; i < 3; i++) { var b = Encoding.ASCII.GetBytes ("chunk" + i); r.OutputStream.Write (b, 0, b.Length); r.OutputStream.Flush (); } r.Close (); return;
        case "/cookie": r.SetCookie (new Cookie ("k", "v") { Path = "/" }); r.Headers["X-Test"] = "t"; break;
        case "/auth": if (q.Headers["Authorization"] == null) { r.StatusCode = 401; r.AddHeader ("WWW-Authenticate", "Basic realm=\"r\""); r.Close (); return; } body = q.Headers["Authorization"]; break;
        case "/slow": Thread.Sleep (2000); break;
        case "/gzip": var ms = new MemoryStream (); using (var z = new System.IO.Compression.GZipStream (ms, System.IO.Compression.CompressionMode.Compress, true)) z.Write (Encoding.ASCII.GetBytes ("zipped"), 0, 6); r.AddHeader ("Content-Encoding", "gzip"); r.Close (ms.ToArray (), false); return;
        }
        var o = Encoding.UTF8.GetBytes (q.HttpMethod + " " + q.RawUrl + " [" + body + "] " + q.ContentType + " " + q.Headers["Cookie"] + " " + q.Headers["X-Req"]);
        r.ContentType = "text/plain; charset=utf-8"; r.ContentLength64 = o.Length; r.OutputStream.Write (o, 0, o.Length); r.Close ();
    }
    static void Main ()
    {
        var listener = Serve ();
        Check ("WebClient", () => { var w = new WebClient { Encoding = Encoding.UTF8 }; Print (w.DownloadString (url + "echo?a=ä"), w.UploadString (url + "post", "bödy"), Encoding.UTF8.GetString (w.UploadValues (url + "v", new NameValueCollection { { "a", "1 2" }, { "b", "&" } })), w.ResponseHeaders["Content-Type"]); w.Headers["X-Req"] = "h"; w.QueryString["q"] = "1"; Print (Encoding.UTF8.GetString (w.DownloadData (url)), w.DownloadStringTaskAsync (url + "async").Result); });
        Check ("WebClient 404", () => new WebClient ().DownloadString (url + "404"));
        Check ("HttpWebRequest", () => { var q = (HttpWebRequest) WebRequest.Create (url + "redirect"); using (var r = (HttpWebResponse) q.GetResponse ()) Print (r.StatusCode, r.ResponseUri.PathAndQuery, new StreamReader (r.GetResponseStream ()).ReadToEnd (), r.ProtocolVersion, r.CharacterSet, r.ContentLength); q = (HttpWebRequest) WebRequest.Create (url + "redirect"); q.AllowAutoRedirect = false; using (var r = (HttpWebResponse) q.GetResponse ()) Print (r.StatusCode, (int) r.StatusCode); });
        Check ("HttpWebRequest post", () => { var q = (HttpWebRequest) WebRequest.Create (url + "p"); q.Method = "POST"; q.ContentType = "text/x"; q.SendChunked = true; q.Headers.Add ("X-Req", "1"); using (var s = q.GetRequestStream ()) s.Write (new byte[] { 65, 66 }, 0, 2); using (var r = q.GetResponse ()) Print (new StreamReader (r.GetResponseStream ()).ReadToEnd ()); });
        Check ("HttpWebRequest cookies", () => { var jar = new CookieContainer (); foreach (var p in new[] { "cookie", "echo" }) { var q = (HttpWebRequest) WebRequest.Create (url + p); q.CookieContainer = jar; using (var r = (HttpWebResponse) q.GetResponse ()) Print (r.Headers["X-Test"], r.Cookies.Count, new StreamReader (r.GetResponseStream ()).ReadToEnd ()); } Print (jar.Count, jar.GetCookieHeader (new Uri (url))); });
        Check ("HttpWebRequest credentials", () => { var q = (HttpWebRequest) WebRequest.Create (url + "auth"); q.Credentials = new NetworkCredential ("u", "p"); using (var r = q.GetResponse ()) Print (new StreamReader (r.GetResponseStream ()).ReadToEnd ()); });
        Check ("HttpWebRequest gzip", () => { var q = (HttpWebRequest) WebRequest.Create (url + "gzip"); q.AutomaticDecompression = DecompressionMethods.GZip; using (var r = q.GetResponse ()) Print (new StreamReader (r.GetResponseStream ()).ReadToEnd ()); });
        Check ("HttpWebRequest timeout", () => { var q = (HttpWebRequest) WebRequest.Create (url + "slow"); q.Timeout = 200; try { q.GetResponse (); } catch (WebException e) { Print (e.Status, e.Message); } });
        Check ("HttpWebRequest async", () => { var q = WebRequest.Create (url + "a"); var r = q.BeginGetResponse (null, null); Print (new StreamReader (q.EndGetResponse (r).GetResponseStream ()).ReadToEnd ()); });
        Check ("HttpClient", () => { using (var c = new HttpClient { BaseAddress = new Uri (url) }) { c.DefaultRequestHeaders.Add ("X-Req", "d"); Print (c.GetStringAsync ("get").Result, c.PostAsync ("post", new StringContent ("text", Encoding.UTF8, "text/x")).Result.Content.ReadAsStringAsync ().Result, c.GetByteArrayAsync ("chunked").Result.Length); var r = c.SendAsync (new HttpRequestMessage (HttpMethod.Put, "put") { Content = new FormUrlEncodedContent (new[] { new KeyValuePair<string, string> ("k", "v w") }) }).Result; Print (r.StatusCode, r.ReasonPhrase, r.Content.Headers.ContentType, r.Content.ReadAsStringAsync ().Result); r = c.GetAsync ("404").Result; Print (r.IsSuccessStatusCode, r.ReasonPhrase); Print (c.DeleteAsync ("del").Result.Content.ReadAsStringAsync ().Result); r.EnsureSuccessStatusCode (); } });
        Check ("HttpClient multipart", () => { using (var c = new HttpClient ()) { var m = new MultipartFormDataContent ("BOUND"); m.Add (new StringContent ("v"), "n"); m.Add (new ByteArrayContent (new byte[] { 66 }), "f", "file.bin"); Print (c.PostAsync (url, m).Result.Content.ReadAsStringAsync ().Result); } });
        Check ("HttpClient cancelled", () => { using (var c = new HttpClient { Timeout = TimeSpan.FromMilliseconds (200) }) try { c.GetStringAsync (url + "slow").Wait (); } catch (AggregateException e) { Print (e.InnerException.GetType ()); } });
        Check ("HttpClient in parallel", () => { using (var c = new HttpClient ()) Print (Task.WhenAll (Enumerable.Range (0, 20).Select (i => c.GetStringAsync (url + i))).Result.Select (s => s.Length).Sum ()); });
        Check ("Connection refused", () => { try { new WebClient ().DownloadString ("http://localhost:1/"); } catch (WebException e) { Print (e.Status, e.InnerException != null); } });
        Check ("Unknown host", () => { try { new WebClient ().DownloadString ("http://no-such-host.invalid/"); } catch (WebException e) { Print (e.Status); } });
        listener.Stop ();
        Check ("Listener stopped", () => { Print (listener.IsListening); listener.GetContext (); });
        Check ("TcpListener and TcpClient", () => { var l = new TcpListener (IPAddress.Loopback, 0); l.Start (); var t = l.AcceptTcpClientAsync (); using (var c = new TcpClient ()) { c.Connect ((IPEndPoint) l.LocalEndpoint); using (var s = t.Result) { var w = new StreamWriter (s.GetStream ()) { AutoFlush = true }; w.WriteLine ("hi"); Print (new StreamReader (c.GetStream ()).ReadLine (), c.Connected, c.NoDelay, c.ReceiveTimeout, l.Pending ()); } Print (c.GetStream ().Read (new byte[1], 0, 1)); } l.Stop (); });
        Check ("UdpClient", () => { using (var a = new UdpClient (0, AddressFamily.InterNetwork)) using (var b = new UdpClient ()) { b.Send (new byte[] { 1, 2 }, 2, new IPEndPoint (IPAddress.Loopback, ((IPEndPoint) a.Client.LocalEndPoint).Port)); IPEndPoint f = null; Print (a.Receive (ref f), f.Address); } });
        Check ("Socket options", () => { using (var s = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) { s.NoDelay = true; s.LingerState = new LingerOption (true, 3); s.ReceiveTimeout = 123; s.SendTimeout = 45; s.SetSocketOption (SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true); Print (s.NoDelay, s.LingerState.LingerTime, s.ReceiveTimeout, s.SendTimeout, s.GetSocketOption (SocketOptionLevel.Socket, SocketOptionName.KeepAlive), s.Blocking, s.Ttl, s.Connected, s.GetSocketOption (SocketOptionLevel.Socket, SocketOptionName.Type)); s.Bind (new IPEndPoint (IPAddress.Any, 0)); Print (s.IsBound, ((IPEndPoint) s.LocalEndPoint).Address, s.ExclusiveAddressUse); } });
        Check ("Socket errors", () => { using (var s = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp)) try { s.Connect (IPAddress.Loopback, 1); } catch (SocketException e) { Print (e.SocketErrorCode, e.ErrorCode, e.NativeErrorCode, e.Message); } });
        Check ("Socket timeout", () => { var l = new TcpListener (IPAddress.Loopback, 0); l.Start (); using (var c = new TcpClient ()) { c.Connect ((IPEndPoint) l.LocalEndpoint); c.ReceiveTimeout = 100; try { c.GetStream ().Read (new byte[1], 0, 1); } catch (IOException e) { Print (((SocketException) e.InnerException).SocketErrorCode); } } l.Stop (); });
        Check ("SocketAsyncEventArgs", () => { var l = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); l.Bind (new IPEndPoint (IPAddress.Loopback, 0)); l.Listen (1); var done = new ManualResetEvent (false); var a = new SocketAsyncEventArgs (); a.Completed += (o, e) => done.Set (); if (!l.AcceptAsync (a)) done.Set (); var c = new Socket (AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp); c.Connect (l.LocalEndPoint); Print (done.WaitOne (5000), a.SocketError); c.Send (new List<ArraySegment<byte>> { new ArraySegment<byte> (new byte[] { 1, 2 }), new ArraySegment<byte> (new byte[] { 3 }) }); var b = new byte[10]; Thread.Sleep (50); Print (a.AcceptSocket.Available, a.AcceptSocket.Receive (b, SocketFlags.Peek), a.AcceptSocket.Receive (b), a.AcceptSocket.Poll (0, SelectMode.SelectWrite)); c.Shutdown (SocketShutdown.Send); Print (a.AcceptSocket.Receive (b)); var read = new List<Socket> { a.AcceptSocket }; Socket.Select (read, null, null, 100000); Print (read.Count); c.Close (); l.Close (); });
        Check ("IPv6 socket", () => { var l = new TcpListener (IPAddress.IPv6Loopback, 0); l.Start (); using (var c = new TcpClient (AddressFamily.InterNetworkV6)) { c.Connect (IPAddress.IPv6Loopback, ((IPEndPoint) l.LocalEndpoint).Port); Print (((IPEndPoint) c.Client.RemoteEndPoint).Address); } l.Stop (); });
        Check ("Unix socket", () => { var e = new Mono.Unix.UnixEndPoint (Path.Combine (Directory.GetCurrentDirectory (), "sock")); var l = new Socket (AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified); l.Bind (e); l.Listen (1); var c = new Socket (AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified); c.Connect (e); var s = l.Accept (); s.Send (new byte[] { 9 }); var b = new byte[1]; c.Receive (b); Print (b); c.Close (); s.Close (); l.Close (); File.Delete (e.Filename); });
        Check ("Dns", () => { Print (Dns.GetHostEntry ("localhost").AddressList.Any (a => IPAddress.IsLoopback (a)), Dns.GetHostName () == Environment.MachineName, Dns.GetHostAddresses ("127.0.0.1"), Dns.GetHostEntry (IPAddress.Loopback).HostName, Dns.GetHostAddressesAsync ("127.0.0.2").Result); Dns.GetHostEntry ("no-such-host.invalid"); });
        Check ("IPAddress", () => { foreach (var s in new[] { "1.2.3.4", "::1", "fe80::1%2", "::ffff:1.2.3.4", "1.2", "0x10.1.1.1", "256.1.1.1", "2001:db8::ff00:42:8329" }) { IPAddress a; Print (s, IPAddress.TryParse (s, out a), a, a == null ? null : (object) a.AddressFamily, a == null ? null : a.GetAddressBytes ()); } Print (IPAddress.HostToNetworkOrder (1), IPAddress.Parse ("::ffff:1.2.3.4").MapToIPv4 (), IPAddress.IsLoopback (IPAddress.Parse ("127.8.8.8"))); });
        Check ("NetworkInterface", () => { var lo = NetworkInterface.GetAllNetworkInterfaces ().First (n => n.Name == "lo"); Print (lo.NetworkInterfaceType, lo.OperationalStatus, lo.GetIPProperties ().UnicastAddresses.Any (a => a.Address.Equals (IPAddress.Loopback)), NetworkInterface.GetIsNetworkAvailable (), lo.Description, lo.GetIPv4Statistics ().BytesReceived >= 0); Print (IPGlobalProperties.GetIPGlobalProperties ().HostName.Length > 0, IPGlobalProperties.GetIPGlobalProperties ().GetActiveTcpListeners () != null); });
        Check ("Ping", () => Print (new Ping ().Send (IPAddress.Loopback, 1000).Status));
        Check ("Uri", () => { foreach (var s in new[] { "http://user:pw@host:81/a/../b/c%20d?q=1&r=%41#frag", "file:///etc/passwd", "/etc/passwd", "mailto:a@b.c", "http://[::1]:80/", "HTTP://EXAMPLE.COM", "http://ex.com/ä?ü", "ftp://h/x;type=a", "urn:a:b", "http://münchen.de/" }) { Uri u; Print (s, Uri.TryCreate (s, UriKind.RelativeOrAbsolute, out u), u, u.IsAbsoluteUri ? String.Join (" ", u.AbsoluteUri, u.Scheme, u.Host, u.Port, u.AbsolutePath, u.Query, u.Fragment, u.UserInfo, u.IsFile, u.IsDefaultPort, u.DnsSafeHost) : "-"); } Print (new Uri (new Uri ("http://h/a/b"), "../c?d"), new Uri ("http://h/a/").MakeRelativeUri (new Uri ("http://h/b/c")), Uri.EscapeDataString ("a b/ü&"), Uri.EscapeUriString ("a b/ü&"), Uri.UnescapeDataString ("%C3%BC+%20"), Uri.CheckHostName ("a.b"), new UriBuilder ("http", "h", 8080, "p", "?q").ToString ()); });
        Check ("Uri errors", () => new Uri ("http://"));
        Check ("HttpUtility", () => Print (HttpUtility.UrlEncode ("a b&ü/?"), HttpUtility.UrlDecode ("a+b%26%C3%BC"), HttpUtility.HtmlEncode ("<a href='x'>&\"é</a>"), HttpUtility.HtmlDecode ("&lt;&eacute;&#65;&amp;"), HttpUtility.ParseQueryString ("a=1&b=2&a=3").ToString (), WebUtility.HtmlEncode ("<ü>"), WebUtility.UrlEncode ("ä b"), HttpUtility.JavaScriptStringEncode ("a\"b\n</s>")));
        Check ("Headers", () => { Print (MediaTypeHeaderValue.Parse ("text/html; charset=utf-8").CharSet, new ContentType ("text/html; name=\"a b\"").Parameters["name"], EntityTagHeaderValue.Parse ("W/\"x\"").IsWeak, CacheControlHeaderValue.Parse ("max-age=5, no-cache").MaxAge, RangeHeaderValue.Parse ("bytes=1-2,-5").Ranges.Count); var h = new WebHeaderCollection { { "A", "1" }, { "a", "2" } }; Print (h["A"], h.Count, h.ToString ()); h["Content-Length"] = "x"; });
        Check ("Mail", () => { var m = new MailMessage ("Änne <a@b.c>", "d@e.f", "Sübject", "body"); m.Attachments.Add (new Attachment (new MemoryStream (new byte[] { 1 }), "x.bin")); Print (m.From.DisplayName, m.From.Host, m.To.ToString (), m.Attachments[0].ContentType); new MailAddress ("bad"); });
        Check ("FileWebRequest", () => Print (new StreamReader (WebRequest.Create ("file:///etc/hostname").GetResponse ().GetResponseStream ()).ReadToEnd ().Length > 0));
        Check ("ServicePointManager", () => Print (ServicePointManager.DefaultConnectionLimit, ServicePointManager.FindServicePoint (new Uri ("http://h/")).Address, ServicePointManager.Expect100Continue, ServicePointManager.SecurityProtocol));
        Check ("Cookie parsing", () => { var j = new CookieContainer (); j.SetCookies (new Uri ("http://h.com/p/"), "a=b; path=/p, c=d; domain=.h.com; secure"); Print (j.GetCookieHeader (new Uri ("http://h.com/p/x")), j.GetCookieHeader (new Uri ("https://www.h.com/"))); });
        Check ("TLS", () => {
            var cert = new X509Certificate2 (Convert.FromBase64String (Pfx.Data), "sweep"); var l = new TcpListener (IPAddress.Loopback, 0); l.Start ();
            var server = Task.Run (() => { using (var c = l.AcceptTcpClient ()) using (var s = new SslStream (c.GetStream ())) { s.AuthenticateAsServer (cert); var r = new StreamReader (s); var w = new StreamWriter (s) { AutoFlush = true }; w.WriteLine ("secret " + r.ReadLine ()); } });
            using (var c = new TcpClient ()) { c.Connect ((IPEndPoint) l.LocalEndpoint); using (var s = new SslStream (c.GetStream (), false, (o, x, chain, e) => { Print (x.Subject, e); return true; })) { s.AuthenticateAsClient ("localhost"); Print (s.IsAuthenticated, s.IsEncrypted, s.SslProtocol, s.CipherStrength); var w = new StreamWriter (s) { AutoFlush = true }; w.WriteLine ("hello"); Print (new StreamReader (s).ReadLine ()); } } server.Wait (); l.Stop ();
        });
        Check ("TLS refused", () => {
            var cert = new X509Certificate2 (Convert.FromBase64String (Pfx.Data), "sweep"); var l = new TcpListener (IPAddress.Loopback, 0); l.Start ();
            var server = Task.Run (() => { try { using (var c = l.AcceptTcpClient ()) using (var s = new SslStream (c.GetStream ())) s.AuthenticateAsServer (cert); } catch (Exception) { } });
            using (var c = new TcpClient ()) { c.Connect ((IPEndPoint) l.LocalEndpoint); using (var s = new SslStream (c.GetStream ())) try { s.AuthenticateAsClient ("localhost"); } catch (System.Security.Authentication.AuthenticationException e) { Print (e.GetType ()); } } server.Wait ();
        });
        Check ("WebSocket client refused", () => { using (var w = new System.Net.WebSockets.ClientWebSocket ()) try { w.ConnectAsync (new Uri ("ws://localhost:1/"), CancellationToken.None).Wait (); } catch (AggregateException e) { Print (e.InnerException.GetType (), w.State); } });
    }
}

// A key pair made for these checks.
static class Pfx {
    public const string Data =
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
