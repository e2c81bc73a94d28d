// Delegates whose first argument is `this`: a method that is not virtual may be called on null, as `call` does; a virtual one not.
// DynamicInvoke asks for a target in any case.
using System;
using System.Reflection;

interface IThing { string Interface (int n); }
abstract class Base { public abstract string Abstract (int n); }
class Thing : Base, IThing {
    public string Plain (int n) { return (this == null ? "null " : "object ") + n; }
    public virtual string Virtual (int n) { return (this == null ? "null " : "object ") + n; }
    public override string Abstract (int n) { return "abstract " + n; }
    public string Interface (int n) { return "interface " + n; }
}
struct Value {
    public int Number;
    public string Add (int n) { return (Number + n).ToString (); }
}

delegate string OnThing (Thing thing, int n);
delegate string OnBase (Base thing, int n);
delegate string OnInterface (IThing thing, int n);
delegate string OnValue (ref Value value, int n);

static class Program {
    static void Try (string what, Func<object> work)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, work ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}", what, e.GetType ().Name);
        }
    }

    static T Make<T> (Type type, string name)
    {
        return (T) (object) Delegate.CreateDelegate (typeof (T), type.GetMethod (name));
    }

    static void Main ()
    {
        var plain = Make<OnThing> (typeof (Thing), "Plain");
        var @virtual = Make<OnThing> (typeof (Thing), "Virtual");
        var @abstract = Make<OnBase> (typeof (Base), "Abstract");
        var @interface = Make<OnInterface> (typeof (IThing), "Interface");
        var thing = new Thing ();
        Try ("plain", () => plain (thing, 1));
        Try ("plain on null", () => plain (null, 2));
        Try ("plain on null in a list", () => ((OnThing) Delegate.Combine (plain, plain)) (null, 3));
        Try ("virtual", () => @virtual (thing, 4));
        Try ("virtual on null", () => @virtual (null, 5));
        Try ("abstract", () => @abstract (thing, 6));
        Try ("abstract on null", () => @abstract (null, 7));
        Try ("interface", () => @interface (thing, 8));
        Try ("interface on null", () => @interface (null, 9));
        Try ("invoked", () => plain.DynamicInvoke (thing, 10));
        Try ("interface invoked", () => @interface.DynamicInvoke (thing, 11));
        Try ("invoked on null", () => plain.DynamicInvoke (null, 12));
        var value = new Value { Number = 13 };
        var add = Make<OnValue> (typeof (Value), "Add");
        Try ("value", () => add (ref value, 1));
        Try ("value invoked", () => add.DynamicInvoke (value, 2));
    }
}
