// The state object of a Thread.Abort in another domain: text is copied, objects marshalled by reference come as proxies,
// serialisable ones as copies, and asking for others throws.
using System;
using System.Reflection;
using System.Runtime.Remoting;
using System.Threading;

[Serializable]
class Note { public string Text; public Note Next; }

class Secret { }

class Remote : MarshalByRefObject
{
    public void AbortWithText() { Thread.CurrentThread.Abort("text"); }
    public void AbortWithSelf() { Thread.CurrentThread.Abort(this); }
    public void AbortWithNumber() { Thread.CurrentThread.Abort(42); }
    public void AbortWithNote()
    {
        Note note = new Note { Text = "note" };
        note.Next = note;
        Thread.CurrentThread.Abort(note);
    }
    public void AbortWithSecret() { Thread.CurrentThread.Abort(new Secret()); }
    public void AbortWithGiven(Remote given) { Thread.CurrentThread.Abort(given); }
    public int Number() { return 123; }
}

static class Program
{
    static void Try(string name, Action action, Action<object> look)
    {
        try
        {
            action();
        }
        catch (ThreadAbortException e)
        {
            object state = e.ExceptionState;
            Thread.ResetAbort();
            look(state);
            Console.WriteLine("{0}: after {1}", name, e.ExceptionState == null);
        }
    }

    static string Failure(ThreadAbortException e)
    {
        string text = "none";
        try
        {
            object state = e.ExceptionState;
            Thread.ResetAbort();
        }
        catch (InvalidOperationException error)
        {
            text = error.Message + ": " + error.InnerException.GetType().Name;
            Thread.ResetAbort();
        }
        return text;
    }

    static void Main()
    {
        AppDomain domain = AppDomain.CreateDomain("there");
        Remote remote = (Remote) domain.CreateInstanceAndUnwrap(Assembly.GetExecutingAssembly().FullName, "Remote");
        Try("text", remote.AbortWithText, state => Console.WriteLine((string) state));
        Try("number", remote.AbortWithNumber, state => Console.WriteLine((int) state));
        Try("self", remote.AbortWithSelf, state =>
            Console.WriteLine("{0} {1}", RemotingServices.IsTransparentProxy(state), ((Remote) state).Number()));
        Try("note", remote.AbortWithNote, state =>
            Console.WriteLine("{0} {1}", ((Note) state).Text, ((Note) state).Next == state));
        try
        {
            remote.AbortWithSecret();
        }
        catch (ThreadAbortException e)
        {
            Console.WriteLine(Failure(e));
        }
        Remote own = new Remote();
        Try("given", () => remote.AbortWithGiven(own), state => Console.WriteLine(state == own));
    }
}
