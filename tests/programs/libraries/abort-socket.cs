// Thread.Abort ends calls that wait for sockets.
using System; using System.Net; using System.Net.Sockets; using System.Threading;
static class P { static void Main() {
 var l = new TcpListener(IPAddress.Loopback, 0); l.Start();
 var t = new Thread(() => { try { l.AcceptTcpClient(); } catch (ThreadAbortException) { Console.WriteLine("aborted"); } finally { Console.WriteLine("finally"); } });
 t.Start(); Thread.Sleep(200); t.Abort(); Console.WriteLine(t.Join(5000));
 var u = new UdpClient(new IPEndPoint(IPAddress.Loopback, 0));
 t = new Thread(() => { try { u.Client.Poll(-1, SelectMode.SelectRead); } catch (ThreadAbortException) { Console.WriteLine("aborted"); } });
 t.Start(); Thread.Sleep(200); t.Abort(); Console.WriteLine(t.Join(5000));
 var c = new TcpClient(); c.Connect((IPEndPoint)l.LocalEndpoint); Console.WriteLine(l.AcceptTcpClient().Connected);
} }
