// Application domains: separate statics, calls through proxies and by value, exceptions across, callbacks, unloading.
using System;
using System.Reflection;

public class Remote : MarshalByRefObject
{
    static int count;
    public int Next() { return ++count; }
    public string Where() { return AppDomain.CurrentDomain.FriendlyName; }
    public void Fail() { throw new InvalidOperationException("from " + AppDomain.CurrentDomain.FriendlyName); }
    public Value Make(int n) { return new Value { N = n, Origin = AppDomain.CurrentDomain.FriendlyName }; }
    public int Read(Value v) { v.N++; return v.N; }
    public string CallBack(Remote other) { return other.Where(); }
    public override object InitializeLifetimeService() { return null; }
}

[Serializable]
public class Value { public int N; public string Origin; }

static class Program
{
    static void Callback()
    {
        Console.WriteLine("callback in {0} {1}", AppDomain.CurrentDomain.FriendlyName, AppDomain.CurrentDomain.GetData("key"));
    }

    static void Main()
    {
        Remote local = new Remote();
        local.Next();
        local.Next();
        AppDomain domain = AppDomain.CreateDomain("second");
        Remote remote = (Remote)domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Remote");
        Console.WriteLine("{0} {1}", local.Next(), remote.Next());
        Console.WriteLine("{0} {1}", remote.Where(), System.Runtime.Remoting.RemotingServices.IsTransparentProxy(remote));
        Value value = remote.Make(5);
        Console.WriteLine("{0} {1} {2} {3}", value.N, value.Origin, remote.Read(value), value.N);
        Console.WriteLine(remote.CallBack(local) == AppDomain.CurrentDomain.FriendlyName);
        try
        {
            remote.Fail();
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);
        }
        domain.SetData("key", "value");
        domain.DoCallBack(Callback);
        AppDomain.Unload(domain);
        try
        {
            remote.Next();
        }
        catch (AppDomainUnloadedException)
        {
            Console.WriteLine("unloaded");
        }
        for (int i = 0; i < 5; i++)
        {
            AppDomain d = AppDomain.CreateDomain("loop" + i);
            d.DoCallBack(Callback);
            AppDomain.Unload(d);
        }
    }
}
