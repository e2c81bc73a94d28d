// A box becomes a Nullable of its own type only, in code, by reflection and in arrays.
using System;
using System.Reflection;

static class Test
{
    static int? Same(int? x) => x;
    public static int? Field;

    static void Try(string title, Func<object> get)
    {
        try { Console.WriteLine(title + ": " + (get() ?? "null")); }
        catch (Exception e) { Console.WriteLine(title + ": " + e.GetType().Name + ": " + e.Message); }
    }

    static void Main()
    {
        Try("enum as int?", () => (int?)(object)DayOfWeek.Monday);
        Try("int as enum?", () => (DayOfWeek?)(object)1);
        Try("uint as int?", () => (int?)(object)1u);
        Try("null", () => (int?)(object)null);
        MethodInfo same = typeof(Test).GetMethod("Same", BindingFlags.NonPublic | BindingFlags.Static);
        Try("argument int", () => same.Invoke(null, new object[] { 5 }));
        Try("argument null", () => same.Invoke(null, new object[] { null }));
        Try("argument enum", () => same.Invoke(null, new object[] { DayOfWeek.Monday }));
        Try("argument short", () => same.Invoke(null, new object[] { (short)3 }));
        Try("field enum", () => { typeof(Test).GetField("Field").SetValue(null, DayOfWeek.Monday); return Field; });
        Try("field int", () => { typeof(Test).GetField("Field").SetValue(null, 4); return Field; });
        Try("element enum", () => { Array array = new int?[1]; array.SetValue(DayOfWeek.Monday, 0); return array.GetValue(0); });
        Try("element short", () => { Array array = new int?[1]; array.SetValue((short)1, 0); return array.GetValue(0); });
        Try("element int", () => { Array array = new int?[1]; array.SetValue(7, 0); return array.GetValue(0); });
    }
}
