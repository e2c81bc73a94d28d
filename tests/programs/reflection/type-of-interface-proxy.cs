// GetType of a transparent proxy that was made for an interface says the interface; the RealProxy is not asked.
using System;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

interface IThing { string Name (); }
class Remote : MarshalByRefObject {}

class Proxy : RealProxy {
    public Proxy (Type type) : base (type) {}
    public override IMessage Invoke (IMessage message)
    {
        var call = (IMethodCallMessage) message;
        Console.WriteLine ("called: {0}", call.MethodName);
        return new ReturnMessage ("answer", null, 0, call.LogicalCallContext, call);
    }
}

static class Program {
    static void Main ()
    {
        object thing = new Proxy (typeof (IThing)).GetTransparentProxy ();
        Console.WriteLine (thing.GetType ());
        Console.WriteLine ("{0} {1}", thing is IThing, thing is IDisposable);
        Console.WriteLine (((IThing) thing).Name ());
        Console.WriteLine (new Proxy (typeof (Remote)).GetTransparentProxy ().GetType ());
    }
}
