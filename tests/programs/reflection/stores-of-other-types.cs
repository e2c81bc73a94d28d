// Reflection stores no object in a field of another type, whichever door it comes through.
// mcs: -unsafe
using System;
using System.Reflection;
using System.Runtime.Serialization;

class A { public int Number = 7; }
class Derived : A { }

enum Color { Red = 1, Green = 2 }

struct Inner { public int X; public object Reference; }

class Holder
{
    public A Object;
    public string Text;
    public int Number;
    public long Wide;
    public double Real;
    public Color Color;
    public int? Maybe;
    public Guid Big;
    public IDisposable Interface;
    public string[] Texts;
    public Inner Inner;
    public const int Constant = 3;
    public static string Static;
}

struct Outer { public Inner Inner; public int Number; public string Text; }

static class Program
{
    static readonly BindingFlags All = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;

    static FieldInfo Field(Type type, string name)
    {
        return type.GetField(name, All);
    }

    static void Try(string what, Action action)
    {
        try
        {
            action();
            Console.WriteLine("{0}: stored", what);
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Populate(string name, object value)
    {
        var holder = new Holder();
        var field = Field(typeof(Holder), name);
        Try("populate " + name + " with " + (value == null ? "null" : value.GetType().Name), () =>
        {
            FormatterServices.PopulateObjectMembers(holder, new MemberInfo[] { field }, new[] { value });
            Console.Write("{0} ", field.GetValue(holder) ?? "null");
        });
    }

    static void Direct(string name, object value)
    {
        var outer = new Outer();
        Try("direct " + name + " with " + value.GetType().Name, () =>
        {
            var field = Field(typeof(Outer), name);
            field.SetValueDirect(__makeref(outer), value);
            Console.Write("{0} ", field.GetValueDirect(__makeref(outer)));
        });
    }

    static void Main()
    {
        Populate("Object", new Holder());
        Populate("Object", "text");
        Populate("Object", new Derived());
        Populate("Object", null);
        Populate("Text", new A());
        Populate("Text", "text");
        Populate("Number", "text");
        Populate("Number", 5);
        Populate("Number", (byte)200);
        Populate("Number", 5L);
        Populate("Number", Color.Green);
        Populate("Wide", 5);
        Populate("Real", 2.5f);
        Populate("Color", 2);
        Populate("Color", 2L);
        Populate("Maybe", 5);
        Populate("Maybe", 5L);
        Populate("Maybe", "text");
        Populate("Big", (byte)1);
        Populate("Big", new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
        Populate("Interface", new A());
        Populate("Texts", new object[] { 1 });
        Populate("Texts", new[] { "text" });
        Populate("Inner", 1);
        Populate("Inner", new Outer());

        Try("constant", () => FormatterServices.PopulateObjectMembers(new Holder(), new MemberInfo[] { Field(typeof(Holder), "Constant") }, new object[] { 1 }));
        Try("static", () => FormatterServices.PopulateObjectMembers(new Holder(), new MemberInfo[] { Field(typeof(Holder), "Static") }, new object[] { 1 }));
        Try("another object's field", () => FormatterServices.PopulateObjectMembers("text", new MemberInfo[] { Field(typeof(Holder), "Object") }, new object[] { new A() }));
        Try("read of another object's field", () => FormatterServices.GetObjectData("text", new MemberInfo[] { Field(typeof(Holder), "Object") }));

        Direct("Number", 5);
        Direct("Number", (short)5);
        Direct("Number", "text");
        Direct("Text", "text");
        Direct("Text", 5);
        Direct("Inner", new Inner { X = 9 });
        Direct("Inner", 9);
        var holder = new Holder();
        Try("direct, of another struct", () => Field(typeof(Outer), "Text").SetValueDirect(__makeref(holder.Inner), "text"));
        Try("direct, of an object", () => Field(typeof(Holder), "Text").SetValueDirect(__makeref(holder), "text"));
        Try("direct, of another object", () => { object other = new A(); Field(typeof(Holder), "Text").SetValueDirect(__makeref(other), "text"); });
        Try("direct, static", () => Field(typeof(Holder), "Static").SetValueDirect(__makeref(holder), "text"));
        Try("direct, static, of another type", () => Field(typeof(Holder), "Static").SetValueDirect(__makeref(holder), 5));
        Try("direct, constant", () => Field(typeof(Holder), "Constant").SetValueDirect(__makeref(holder), 5));
        Console.WriteLine("{0} {1}", holder.Text, Holder.Static);

        Try("set", () => Field(typeof(Holder), "Object").SetValue(holder, "text"));
        Try("set, of a binder", () => Field(typeof(Holder), "Object").SetValue(holder, "text", BindingFlags.Default, new LyingBinder(), null));
        Try("invoke, of a binder", () => typeof(Program).GetMethod("Take", All).Invoke(null, BindingFlags.Default, new LyingBinder(), new object[] { "text" }, null));
        Try("string[] for a reference to an object", () => typeof(Program).GetMethod("Replace", All).Invoke(null, new[] { "text" }));
        Try("string[] for a reference to a number", () => typeof(Program).GetMethod("Count", All).Invoke(null, new string[1]));
        var given = new object[] { "text" };
        typeof(Program).GetMethod("Replace", All).Invoke(null, given);
        Console.WriteLine(given[0]);
        Try("throws after it has replaced", () => typeof(Program).GetMethod("ReplaceAndThrow", All).Invoke(null, given));
        Console.WriteLine(given[0]);
    }

    static void Take(A a)
    {
        Console.Write("{0} ", a.Number);
    }

    static void Replace(ref object value)
    {
        value = 42;
    }

    static void ReplaceAndThrow(ref object value)
    {
        value = "replaced";
        throw new Exception();
    }

    static void Count(ref int value)
    {
        value++;
    }
}

class LyingBinder : Binder
{
    public override object ChangeType(object value, Type type, System.Globalization.CultureInfo culture)
    {
        return "lie";
    }

    public override FieldInfo BindToField(BindingFlags flags, FieldInfo[] match, object value, System.Globalization.CultureInfo culture)
    {
        throw new NotImplementedException();
    }

    public override MethodBase BindToMethod(BindingFlags flags, MethodBase[] match, ref object[] args, ParameterModifier[] modifiers, System.Globalization.CultureInfo culture, string[] names, out object state)
    {
        throw new NotImplementedException();
    }

    public override void ReorderArgumentArray(ref object[] args, object state)
    {
    }

    public override MethodBase SelectMethod(BindingFlags flags, MethodBase[] match, Type[] types, ParameterModifier[] modifiers)
    {
        throw new NotImplementedException();
    }

    public override PropertyInfo SelectProperty(BindingFlags flags, PropertyInfo[] match, Type type, Type[] indexes, ParameterModifier[] modifiers)
    {
        throw new NotImplementedException();
    }
}
