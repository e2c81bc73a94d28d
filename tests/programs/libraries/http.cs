// HttpListener against HttpClient, WebRequest and WebClient on the loopback interface.
// mcs: -r:System.Net.Http.dll
using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;
static class P {
    static int FreePort() { var l = new TcpListener(IPAddress.Loopback, 0); l.Start(); int p = ((IPEndPoint)l.LocalEndpoint).Port; l.Stop(); return p; }
    static async Task Serve(HttpListener l) {
        while (true) {
            HttpListenerContext c;
            try { c = await l.GetContextAsync(); } catch (Exception) { return; }
            string body = new StreamReader(c.Request.InputStream).ReadToEnd();
            if (c.Request.Url.AbsolutePath == "/missing") c.Response.StatusCode = 404;
            c.Response.Headers["X-Answer"] = "42";
            var data = Encoding.UTF8.GetBytes(c.Request.HttpMethod + " " + c.Request.Url.PathAndQuery + " [" + body + "] " + c.Request.Headers["X-Ask"]);
            c.Response.OutputStream.Write(data, 0, data.Length);
            c.Response.Close();
        }
    }
    static async Task Client(string root) {
        using (var h = new HttpClient()) {
            h.DefaultRequestHeaders.Add("X-Ask", "asked");
            Console.WriteLine(await h.GetStringAsync(root + "a?b=c"));
            var r = await h.PostAsync(root + "post", new StringContent("the body"));
            Console.WriteLine((int)r.StatusCode + " " + r.Headers.GetValues("X-Answer").First() + " " + await r.Content.ReadAsStringAsync());
            Console.WriteLine((await h.GetAsync(root + "missing")).StatusCode);
            var all = await Task.WhenAll(Enumerable.Range(0, 20).Select(i => h.GetStringAsync(root + i)));
            Console.WriteLine(string.Join("|", all.OrderBy(x => x, StringComparer.Ordinal)));
        }
    }
    static void Main() {
        string root = "http://127.0.0.1:" + FreePort() + "/";
        var l = new HttpListener(); l.Prefixes.Add(root); l.Start(); var serve = Serve(l);
        Client(root).Wait();
        var w = (HttpWebRequest)WebRequest.Create(root + "web"); w.Method = "PUT"; using (var s = w.GetRequestStream()) s.Write(new byte[] { 65, 66 }, 0, 2);
        using (var r = (HttpWebResponse)w.GetResponse()) Console.WriteLine(r.StatusCode + " " + new StreamReader(r.GetResponseStream()).ReadToEnd());
        try { WebRequest.Create(root + "missing").GetResponse(); } catch (WebException e) { Console.WriteLine(e.Status + " " + ((HttpWebResponse)e.Response).StatusCode); }
        using (var c = new WebClient()) Console.WriteLine(c.DownloadString(root + "wc"));
        l.Stop(); Console.WriteLine(serve.Wait(5000));
        try { WebRequest.Create("http://127.0.0.1:" + FreePort() + "/").GetResponse(); } catch (WebException e) { Console.WriteLine(e.Status); }
    }
}
