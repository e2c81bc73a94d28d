// `new` of a class that the program has registered as activated elsewhere makes a proxy, also in code that was compiled before.
// mcs: -r:System.Runtime.Remoting.dll
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Channels;
using System.Runtime.Remoting.Channels.Tcp;

public class Counter : MarshalByRefObject
{
    int count;

    public Counter() { }
    public Counter(int start) { count = start; }
    public int Next() { return ++count; }
    public string Home() { return AppDomain.CurrentDomain.IsDefaultAppDomain() ? "here" : AppDomain.CurrentDomain.FriendlyName; }
}

public class Service : MarshalByRefObject
{
    static int calls;

    public string Call() { return AppDomain.CurrentDomain.FriendlyName + " " + ++calls; }
}

static class Program
{
    static void Serve()
    {
        var channel = new TcpChannel(0);
        ChannelServices.RegisterChannel(channel, false);
        RemotingConfiguration.ApplicationName = "app";
        RemotingConfiguration.RegisterActivatedServiceType(typeof(Counter));
        RemotingConfiguration.RegisterWellKnownServiceType(typeof(Service), "service", WellKnownObjectMode.SingleCall);
        AppDomain.CurrentDomain.SetData("url", channel.GetUrlsForUri("service")[0]);
    }

    static void Count(Counter counter)
    {
        Console.WriteLine("{0} {1} {2} {3}", RemotingServices.IsTransparentProxy(counter), counter.Home(), counter.Next(), counter.Next());
    }

    static Counter Make(int start) { return new Counter(start); }

    static void Main()
    {
        var server = AppDomain.CreateDomain("server");
        server.DoCallBack(Serve);
        var url = (string)server.GetData("url");
        ChannelServices.RegisterChannel(new TcpChannel(), false);

        Count(Make(10));
        RemotingConfiguration.RegisterActivatedClientType(typeof(Counter), url.Replace("/service", "/app"));
        RemotingConfiguration.RegisterWellKnownClientType(typeof(Service), url);
        Count(Make(20));
        Count(new Counter());
        Count((Counter)Activator.CreateInstance(typeof(Counter), 30));
        Count((Counter)typeof(Counter).GetConstructor(new[] { typeof(int) }).Invoke(new object[] { 40 }));
        var service = new Service();
        Console.WriteLine("{0} {1}", service.Call(), service.Call());
    }
}
