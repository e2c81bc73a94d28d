// Static fields that are structs, read and written by reflection more than once: after the first use .NET's accessor
// works with the field's address.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Threading;

static class StaticStructFieldsByReflection
{
    struct Both { public int Number; public string Text; public override string ToString() => Number + Text; }
    enum Colour : short { Red, Green = 300 }
    static Both both = new Both { Number = 3, Text = "t" };
    static readonly Guid guid = new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    static Colour colour = Colour.Green;
    static int? maybe = 5;
    static KeyValuePair<string, long> pair = new("k", 1L << 40);
    static nint native = -4;
    static double number = 1.5;
    [ThreadStatic] static decimal onThread;
    const long Constant = 1L << 35;

    class Generic<T> { public static T Value; public static (T, int) Pair; }

    static void Read(FieldInfo field)
    {
        string text = field.Name;
        for (int i = 0; i < 4; i++) { text += " " + field.GetValue(null); GC.Collect(0); }
        Console.WriteLine(text);
    }

    static void Write(FieldInfo field, params object[] values)
    {
        foreach (object value in values) { field.SetValue(null, value); Console.Write(field.GetValue(null) + " "); }
        Console.WriteLine(field.Name);
    }

    static void Main()
    {
        Read(typeof(decimal).GetField("One")); Read(typeof(decimal).GetField("MaxValue")); Read(typeof(Guid).GetField("Empty")); Read(typeof(TimeSpan).GetField("MinValue")); Read(typeof(int).GetField("MaxValue"));
        foreach (var field in typeof(StaticStructFieldsByReflection).GetFields(BindingFlags.Static | BindingFlags.NonPublic)) Read(field);
        FieldInfo Own(string name) => typeof(StaticStructFieldsByReflection).GetField(name, BindingFlags.Static | BindingFlags.NonPublic);
        Write(Own("both"), new Both { Number = 4, Text = "u" }, new Both { Number = 5 }, null);
        Write(Own("colour"), Colour.Red, (Colour)7, null); Write(Own("maybe"), 6, null, 7); Write(Own("native"), (nint)9, (nint)10); Write(Own("onThread"), 1m, 2m, 3m);
        Write(Own("pair"), new KeyValuePair<string, long>("l", 2), new KeyValuePair<string, long>("m", 3), new KeyValuePair<string, long>("n", 4));
        Console.WriteLine(both + " " + colour + " " + maybe + " " + native + " " + onThread + " " + pair);
        Write(typeof(Generic<decimal>).GetField("Value"), 1m, 2m, 3m); Write(typeof(Generic<string>).GetField("Pair"), ("a", 1), ("b", 2), ("c", 3)); Write(typeof(Generic<string>).GetField("Value"), "x", "y", "z");
        Console.WriteLine(Generic<decimal>.Value + " " + Generic<string>.Pair + " " + Generic<string>.Value);
        var thread = new Thread(() => { Read(Own("onThread")); Write(Own("onThread"), 9m, 10m, 11m); });
        thread.Start(); thread.Join();
        Read(Own("onThread"));
        try { Own("guid").SetValue(null, Guid.Empty); } catch (FieldAccessException) { Console.WriteLine("initonly"); }
    }
}
