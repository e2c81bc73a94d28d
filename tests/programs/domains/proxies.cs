// Transparent proxies of a program's own RealProxy: classes, interfaces, by-reference arguments, generic methods, fields,
// delegates, casts that the proxy decides.
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

public interface IGreeter { string Greet(string name); }
public interface IExtra { int Extra(); }

public class Server : MarshalByRefObject, IGreeter
{
    public int Field = 7;
    public string Greet(string name) { return "hello " + name; }
    public int Sum(int a, ref int b, out int c) { c = a + b; b = 2 * b; return a * b; }
    public virtual T Echo<T>(T value) { return value; }
    public string NotVirtual() { return "direct " + Field; }
}

class Logger : RealProxy, IRemotingTypeInfo
{
    readonly MarshalByRefObject target;
    public Logger(Type type, MarshalByRefObject target) : base(type) { this.target = target; }
    public override IMessage Invoke(IMessage message)
    {
        IMethodCallMessage call = (IMethodCallMessage)message;
        Console.WriteLine("  call {0}", call.MethodName);
        if (call.MethodName == "Extra")
        {
            return new ReturnMessage(42, null, 0, call.LogicalCallContext, call);
        }
        return RemotingServices.ExecuteMessage(target, call);
    }
    public bool CanCastTo(Type type, object o) { return type == typeof(IExtra); }
    public string TypeName { get { return null; } set { } }
}

static class Program
{
    static void Main()
    {
        Server real = new Server();
        Server proxy = (Server)new Logger(typeof(Server), real).GetTransparentProxy();
        Console.WriteLine("{0} {1}", RemotingServices.IsTransparentProxy(proxy), RemotingServices.IsTransparentProxy(real));
        Console.WriteLine(proxy.GetType());
        Console.WriteLine(proxy.Greet("a"));
        int b = 5, c;
        int product = proxy.Sum(3, ref b, out c);
        Console.WriteLine("{0} {1} {2}", product, b, c);
        Console.WriteLine(proxy.NotVirtual());
        IGreeter greeter = proxy;
        Console.WriteLine(greeter.Greet("b"));
        Func<string, string> greet = proxy.Greet;
        Console.WriteLine(greet("c"));
        Console.WriteLine(proxy.Echo<string>("text"));
        Console.WriteLine(proxy.Echo<long>(1L << 40));
        proxy.Field = 8;
        Console.WriteLine("{0} {1}", proxy.Field, real.Field);
        object o = proxy;
        Console.WriteLine("{0} {1} {2}", o is Server, o is IExtra, o is IDisposable);
        Console.WriteLine(((IExtra)o).Extra());
        try
        {
            ((IDisposable)o).Dispose();
        }
        catch (InvalidCastException)
        {
            Console.WriteLine("no IDisposable");
        }
        IGreeter only = (IGreeter)new Logger(typeof(IGreeter), real).GetTransparentProxy();
        Console.WriteLine(only.Greet("d"));
        Console.WriteLine(typeof(Server).GetMethod("NotVirtual").Invoke(proxy, null));
        Console.WriteLine(RemotingServices.GetRealProxy(proxy) is Logger);
    }
}
