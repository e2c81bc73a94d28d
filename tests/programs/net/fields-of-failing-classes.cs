// Reflection on fields of a class whose initializer throws: what it threw is wrapped, and again at the second access.
using System;
using System.Reflection;

class Failing
{
    public static int Static;
    public const int Constant = 3;
    public int Instance = 4;
    static Failing() => throw new InvalidOperationException("failing");
}

class Fine
{
    public static int Count = 5;
    static Fine() => Console.WriteLine("initialized");
}

static class Test
{
    static void Try(string title, Func<object> get)
    {
        try { Console.WriteLine(title + ": " + get()); }
        catch (Exception e)
        {
            for (Exception at = e; at != null; at = at.InnerException)
                Console.WriteLine(title + ": " + at.GetType().Name);
        }
    }

    static void Main()
    {
        FieldInfo field = typeof(Failing).GetField("Static");
        Try("get", () => field.GetValue(null));
        Try("get again", () => field.GetValue(null));
        Try("set", () => { field.SetValue(null, 1); return "set"; });
        Try("constant", () => typeof(Failing).GetField("Constant").GetValue(null));
        FieldInfo count = typeof(Fine).GetField("Count");
        Try("fine", () => { count.SetValue(null, (int)count.GetValue(null) + 1); return count.GetValue(null); });
    }
}
