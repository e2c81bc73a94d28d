// Methods with UnsafeAccessorAttribute: the machine supplies a body that reaches a member of another type, private or not. The attribute is recognised by name.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace System.Runtime.CompilerServices
{
    enum UnsafeAccessorKind { Constructor, Method, StaticMethod, Field, StaticField }

    [AttributeUsage (AttributeTargets.Method)]
    sealed class UnsafeAccessorAttribute : Attribute
    {
        public UnsafeAccessorAttribute (UnsafeAccessorKind kind) { Kind = kind; }
        public UnsafeAccessorKind Kind { get; private set; }
        public string Name { get; set; }
    }
}

class Parent
{
    private int inherited = 7;
    private string Old () { return "old " + inherited; }
    protected virtual string Who () { return "parent"; }
}

class Target : Parent
{
    private int number;
    private static string text = "static";
    private readonly string[] log = new string[1];

    private Target () { number = 1; }
    private Target (int number) { this.number = number; }
    private Target (string text, ref int out1) { number = text.Length; out1 = 5; }

    private int Add (int x) { return number += x; }
    private long Add (long x) { return number + x * 1000; }
    private string Add (int x, string y) { return x + y; }
    private static int Twice (int x) { return x * 2; }
    private static int Twice (string x) { return x.Length * 2; }
    protected override string Who () { return "target " + number; }
    private T Pick<T> (T a, T b, bool first) { return first ? a : b; }
    private static string Name<A, B> (A a, B[] b) { return typeof (A) + " " + typeof (B) + " " + b.Length; }
    private string Name<A> (A a) { return "one " + typeof (A); }
    private int Property { get; set; }
    private void Nothing () { number = -1; }
    private Target Self () { return this; }
    internal static void Reset () { text = "reset"; }
}

sealed class Derived : Target2 { protected override string Who () { return "derived"; } }
class Target2 { protected virtual string Who () { return "target2"; } internal static string Ask (Target2 t) { return t.Who (); } }

struct Value
{
    private int x;
    private Value (int x) { this.x = x; }
    private int Increase () { return ++x; }
    private static int Zero () { return 0; }
    public override string ToString () { return "value " + x; }
}

class Initialised
{
    static Initialised () { Console.WriteLine ("class constructor"); }
    private static int count = 3;
    private static int Count () { return count; }
}

class Box<T>
{
    private T item;
    private static int made;
    private Box (T item) { this.item = item; made++; }
    private T Get () { return item; }
    private void Set (T item) { this.item = item; }
    private string Both<U> (T t, U u) { return typeof (T) + " " + typeof (U) + " " + t + " " + u; }
    private static Box<T> Of (T t) { return new Box<T> (t); }
    private int Int (int x) { return x; }
    private List<T> Wrap (Dictionary<T, int> d) { return new List<T> (d.Keys); }
}

static class Access
{
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Target New ();
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Target New (int number);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Target New (string text, ref int x);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Value NewValue (int x);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Target New (long number);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = ".ctor")] internal static extern void Construct (Target t, int number);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern int Add (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern long Add (Target t, long x);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Add")] internal static extern string AddText (Target t, int x, string y);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern int Twice (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern int Twice (Target t, string x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern void Reset (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Who (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Who (Target2 t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern T Pick<T> (Target t, T a, T b, bool first);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern string Name<A, B> (Target t, A a, B[] b);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Name<A> (Target t, A a);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Pick")] internal static extern int PickInt (Target t, int a, int b, bool first);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "set_Property")] internal static extern void SetProperty (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "get_Property")] internal static extern int GetProperty (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern void Nothing (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Self")] internal static extern object SelfAsObject (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Old (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Old (Parent t);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Twice")] internal static extern int TwiceAsInstance (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod, Name = "Add")] internal static extern int AddAsStatic (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern ref int Number (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field)] internal static extern ref string[] log (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.StaticField, Name = "text")] internal static extern ref string Text (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "inherited")] internal static extern ref int Inherited (Parent t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "inherited")] internal static extern ref int InheritedOfTarget (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern ref long NumberAsLong (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern ref uint NumberAsUnsigned (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "text")] internal static extern ref string TextAsInstance (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "x")] internal static extern ref int X (ref Value v);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern int Increase (ref Value v);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern int Zero (Value v);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern int Count (Initialised i);
    [UnsafeAccessor (UnsafeAccessorKind.StaticField, Name = "count")] internal static extern ref int CountField (Initialised i);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Length")] internal static extern int Missing (string s);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "get_Length")] internal static extern int Length (string s);

    // Not valid.
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern void NoResult (int x);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor, Name = ".ctor")] internal static extern Target NamedConstructor ();
    [UnsafeAccessor (UnsafeAccessorKind.Constructor, Name = "")] internal static extern Target EmptyName ();
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern ref Target ByReference ();
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern void NoTarget ();
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern int Increase (Value v);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "x")] internal static extern ref int XByValue (Value v);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern int NotByReference (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern ref int TwoArguments (Target t, int x);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "number")] internal static extern void FieldWithoutResult (Target t);
    [UnsafeAccessor ((UnsafeAccessorKind) 9)] internal static extern int Unknown (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "")] internal static extern int NoName (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = null)] internal static extern int Add2 (Target t);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Length")] internal static extern int OfArray (int[] t);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern int[] NewArray (int n);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern string NewString (char c, int n);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "ToString")] internal static extern string OfParameter<T> (T t);

    // Of instantiated types and by method parameters.
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "item")] internal static extern ref int IntItem (Box<int> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Get")] internal static extern string GetString (Box<string> b);
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Box<string> NewBox (string s);
    [UnsafeAccessor (UnsafeAccessorKind.StaticField, Name = "made")] internal static extern ref int Made (Box<string> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Int")] internal static extern int Int (Box<string> b, int x);
}

// Custom modifiers count only where without them several members fit.
static class AccessModified
{
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern string Plain (Modified m, int x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern string Twice (Modified m, int x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern string Both (Modified m, int x);
    [UnsafeAccessor (UnsafeAccessorKind.StaticField, Name = "number")] internal static extern ref int Number (Modified m);
}

static class Generic<T>
{
    [UnsafeAccessor (UnsafeAccessorKind.Constructor)] internal static extern Box<T> New (T item);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "item")] internal static extern ref T Item (Box<T> b);
    [UnsafeAccessor (UnsafeAccessorKind.StaticField, Name = "made")] internal static extern ref int Made (Box<T> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern T Get (Box<T> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern void Set (Box<T> b, T item);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Both<U> (Box<T> b, T t, U u);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Both")] internal static extern string BothInt (Box<T> b, T t, int u);
    [UnsafeAccessor (UnsafeAccessorKind.StaticMethod)] internal static extern Box<T> Of (Box<T> b, T t);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern int Int (Box<T> b, int x);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern List<T> Wrap (Box<T> b, Dictionary<T, int> d);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "ToString")] internal static extern string OfParameter (T t);
}

static class Swapped<A, B>
{
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "item")] internal static extern ref A ItemA (Box<A> b);
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "item")] internal static extern ref B ItemB (Box<B> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method, Name = "Get")] internal static extern B GetB (Box<B> b);
}

static class Constrained<T> where T : class
{
    [UnsafeAccessor (UnsafeAccessorKind.Field, Name = "item")] internal static extern ref T Item (Box<T> b);
    [UnsafeAccessor (UnsafeAccessorKind.Method)] internal static extern string Both<U> (Box<T> b, T t, U u) where U : struct;
}

static class Program
{
    static void Try (string name, Func<object> f)
    {
        try {
            Console.WriteLine ("{0}: {1}", name, f ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}: {2}", name, e.GetType ().Name, e is NullReferenceException ? "" : e.Message);
        }
    }
    static object No (Action f) { f (); return "done"; }

    static void Main ()
    {
        var t = Access.New ();
        Try ("constructor", () => Access.Number (t));
        Try ("constructor with a number", () => Access.Number (Access.New (42)));
        Try ("constructor with a reference", () => { int x = 0; var made = Access.New ("four", ref x); return Access.Number (made) + " " + x; });
        Try ("constructor of a struct", () => Access.NewValue (9));
        Try ("constructor that is not there", () => Access.New (1L));
        Try ("constructor as a method", () => { Access.Construct (t, 17); return Access.Number (t); });
        Try ("method", () => Access.Add (t, 3));
        Try ("overload", () => Access.Add (t, 3L));
        Try ("by name", () => Access.AddText (t, 3, "x"));
        Try ("static", () => Access.Twice (null, 3) + " " + Access.Twice (t, "abc"));
        Try ("virtual", () => Access.Who (t));
        Try ("virtual of a derived class", () => Access.Who (new Derived ()));
        Try ("on null", () => Access.Add (null, 3));
        Try ("field of null", () => Access.Number (null));
        Try ("generic method", () => Access.Pick (t, "a", "b", true) + Access.Pick (t, 1, 2, false));
        Try ("generic static method", () => Access.Name (t, 1, new[] { "x", "y" }));
        Try ("by number of parameters", () => Access.Name (t, 1.5));
        Try ("generic by instance", () => Access.PickInt (t, 1, 2, true));
        Try ("property", () => { Access.SetProperty (t, 55); return Access.GetProperty (t); });
        Try ("without result", () => { Access.Nothing (t); return Access.Number (t); });
        Try ("another result type", () => Access.SelfAsObject (t));
        Try ("method of the base class by the derived one", () => Access.Old (t));
        Try ("method of the base class", () => Access.Old ((Parent) t));
        Try ("static as instance", () => Access.TwiceAsInstance (t, 1));
        Try ("instance as static", () => Access.AddAsStatic (t, 1));
        Try ("field", () => { Access.Number (t) = 99; return Access.Add (t, 1); });
        Try ("readonly field", () => { Access.log (t)[0] = "x"; Access.log (t) = new[] { "1", "2" }; return Access.log (t).Length; });
        Try ("static field", () => { Access.Text (null) += "!"; return Access.Text (t); });
        Try ("static method without result", () => { Access.Reset (null); return Access.Text (t); });
        Try ("field of the base class", () => Access.Inherited (t));
        Try ("field of the base class by the derived one", () => Access.InheritedOfTarget (t));
        Try ("field as another type", () => Access.NumberAsLong (t));
        Try ("field as a like type", () => Access.NumberAsUnsigned (t));
        Try ("static field as instance", () => Access.TextAsInstance (t));
        var value = Access.NewValue (1);
        Try ("field of a struct", () => { var v = value; Access.X (ref v) += 10; return v; });
        Try ("method of a struct", () => { var v = value; Access.Increase (ref v); return Access.Increase (ref v) + " " + v; });
        Try ("static method of a struct", () => Access.Zero (value));
        Try ("static field of a class with constructor", () => Access.CountField (null));
        Try ("static method of a class with constructor", () => Access.Count (null));
        Try ("method that is not there", () => Access.Missing ("abc"));
        Try ("method of string", () => Access.Length ("abc"));

        Try ("modifier", () => AccessModified.Plain (null, 1));
        Try ("modifier of another overload", () => AccessModified.Twice (null, 1));
        Try ("modifiers of both overloads", () => AccessModified.Both (null, 1));
        Try ("modifier of a field", () => { AccessModified.Number (null) = 4; return AccessModified.Number (null); });

        Try ("constructor without result", () => No (() => Access.NoResult (1)));
        Try ("named constructor", () => Access.NamedConstructor ());
        Try ("constructor with an empty name", () => Access.EmptyName ());
        Try ("constructor by reference", () => Access.ByReference ());
        Try ("without target", () => No (() => Access.NoTarget ()));
        Try ("method of a struct by value", () => Access.Increase (value));
        Try ("field of a struct by value", () => Access.XByValue (value));
        Try ("field not by reference", () => Access.NotByReference (t));
        Try ("field with two arguments", () => Access.TwoArguments (t, 1));
        Try ("field without result", () => No (() => Access.FieldWithoutResult (t)));
        Try ("unknown kind", () => Access.Unknown (t));
        Try ("empty name", () => Access.NoName (t));
        Try ("null as name", () => Access.Add2 (t));
        Try ("of an array", () => Access.OfArray (new int[3]));
        Try ("array", () => Access.NewArray (3));
        Try ("string", () => Access.NewString ('x', 3));
        Try ("of a parameter", () => Access.OfParameter ("x"));

        Try ("generic constructor", () => Generic<int>.Get (Generic<int>.New (5)));
        var ints = Generic<int>.New (3);
        var texts = Generic<string>.New ("text");
        Try ("generic field", () => { Generic<int>.Item (ints) *= 2; Generic<string>.Item (texts) += "!"; return Generic<int>.Item (ints) + Generic<string>.Item (texts); });
        Try ("generic static field", () => Generic<int>.Made (null) + " " + Generic<string>.Made (null));
        Try ("generic methods", () => { Generic<string>.Set (texts, "new"); return Generic<string>.Get (texts); });
        Try ("generic method of a generic type", () => Generic<string>.Both (texts, "t", 1.5m) + " " + Generic<int>.Both (ints, 1, "u"));
        Try ("generic method by instance", () => Generic<string>.BothInt (texts, "t", 1));
        Try ("generic static method of a generic type", () => Generic<int>.Get (Generic<int>.Of (null, 8)));
        Try ("plain method of a generic type", () => Generic<int>.Int (ints, 8));
        Try ("constructed types", () => Generic<int>.Wrap (ints, new Dictionary<int, int> { { 4, 5 } })[0]);
        Try ("of a type parameter", () => Generic<string>.OfParameter ("x"));
        Try ("first parameter", () => Swapped<int, string>.ItemA (ints));
        Try ("second parameter", () => Swapped<string, int>.ItemB (ints));
        Try ("second parameter, method", () => Swapped<string, int>.GetB (ints));
        Try ("other constraints", () => Constrained<string>.Item (texts));
        Try ("other constraints of a method", () => Constrained<string>.Both (texts, "t", 1));
        Try ("field of an instantiated type", () => Access.IntItem (ints));
        Try ("method of an instantiated type", () => Access.GetString (texts));
        Try ("constructor of an instantiated type", () => Generic<string>.Get (Access.NewBox ("box")));
        Try ("static field of an instantiated type", () => Access.Made (null));
        Try ("plain method of an instantiated type", () => Access.Int (texts, 4));
    }
}
