// A RealProxy or a ProxyAttribute of the program's own that gives objects of other types gets an InvalidCastException, not the caller an object that it
// takes for another; a message with unfit arguments is refused at its destination.
using System;
using System.Runtime.Remoting;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

class Service : MarshalByRefObject
{
    public string Text = "field";
    public string GiveText() { return "text"; }
    public int GiveNumber() { return 1; }
    public void Exchange(ref string text) { text = "new"; }
    public int Length(string text) { return text.Length; }
}

class LyingProxy : RealProxy
{
    readonly object lie;

    public LyingProxy(object lie) : base(typeof(Service))
    {
        this.lie = lie;
    }

    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        return new ReturnMessage(lie, new[] { lie }, call.ArgCount, call.LogicalCallContext, call);
    }
}

class OtherObject : MarshalByRefObject { }

[AttributeUsage(AttributeTargets.Class)]
class LyingAttribute : ProxyAttribute
{
    public override MarshalByRefObject CreateInstance(Type type)
    {
        return new OtherObject();
    }
}

[Lying]
class Bound : ContextBoundObject
{
    public long Number = 5;
}

static class Program
{
    static void Try(string what, Func<object> action)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, action() ?? "null");
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Main()
    {
        foreach (object lie in new object[] { 5, "lie", 5L })
        {
            var proxy = (Service)new LyingProxy(lie).GetTransparentProxy();
            Try("text of " + lie.GetType().Name, () => proxy.GiveText());
            Try("number of " + lie.GetType().Name, () => proxy.GiveNumber());
            Try("exchange of " + lie.GetType().Name, () => { string text = "old"; proxy.Exchange(ref text); return text; });
        }
        Try("bound", () => new Bound().Number);

        var service = new Service();
        var length = typeof(Service).GetMethod("Length");
        Try("message", () => Send(service, length, new object[] { "four" }));
        Try("message with an argument of another type", () => Send(service, length, new object[] { 4 }));
        Try("message with too few arguments", () => Send(service, length, new object[0]));
        Try("message for another object", () => Send(new OtherObject(), length, new object[] { "four" }));
    }

    static object Send(MarshalByRefObject target, System.Reflection.MethodInfo method, object[] arguments)
    {
        var result = RemotingServices.ExecuteMessage(target, new Message(method, arguments));
        if (result.Exception != null)
            throw result.Exception;
        return result.ReturnValue;
    }
}

class Message : IMethodCallMessage
{
    readonly System.Reflection.MethodInfo method;
    readonly object[] arguments;

    public Message(System.Reflection.MethodInfo method, object[] arguments)
    {
        this.method = method;
        this.arguments = arguments;
    }

    public System.Collections.IDictionary Properties { get { return new System.Collections.Hashtable(); } }
    public string Uri { get { return null; } }
    public string MethodName { get { return method.Name; } }
    public string TypeName { get { return method.DeclaringType.AssemblyQualifiedName; } }
    public object MethodSignature { get { return null; } }
    public int ArgCount { get { return arguments.Length; } }
    public string GetArgName(int index) { return null; }
    public object GetArg(int index) { return arguments[index]; }
    public object[] Args { get { return arguments; } }
    public bool HasVarArgs { get { return false; } }
    public LogicalCallContext LogicalCallContext { get { return null; } }
    public System.Reflection.MethodBase MethodBase { get { return method; } }
    public int InArgCount { get { return arguments.Length; } }
    public string GetInArgName(int index) { return null; }
    public object GetInArg(int index) { return arguments[index]; }
    public object[] InArgs { get { return arguments; } }
}
