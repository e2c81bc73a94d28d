// CreateDelegate refuses a generic method that was not given its arguments, also where it may give null for what does not fit.
using System;

class Program {
    public static void Static<T> () { Console.WriteLine ("static {0}", typeof (T)); }
    public void Instance<T> () { Console.WriteLine ("instance {0}", typeof (T)); }

    static void Try (string what, Func<Delegate> make)
    {
        try {
            ((Action) make ()) ();
        } catch (ArgumentException e) {
            Console.WriteLine ("{0}: {1}, {2}", what, e.GetType ().Name, e.ParamName);
        }
    }

    static void Main ()
    {
        var program = new Program ();
        var open = typeof (Program).GetMethod ("Static");
        var instance = typeof (Program).GetMethod ("Instance");
        Try ("static", () => Delegate.CreateDelegate (typeof (Action), open));
        Try ("static, no throw", () => Delegate.CreateDelegate (typeof (Action), open, false));
        Try ("instance", () => Delegate.CreateDelegate (typeof (Action), program, instance));
        Try ("instance, no throw", () => Delegate.CreateDelegate (typeof (Action), program, instance, false));
        Try ("method's own", () => open.CreateDelegate (typeof (Action)));
        Try ("given arguments", () => Delegate.CreateDelegate (typeof (Action), open.MakeGenericMethod (typeof (int))));
        Try ("given arguments", () => Delegate.CreateDelegate (typeof (Action), program, instance.MakeGenericMethod (typeof (string))));
    }
}
