// CreateDelegate binds no method to which a delegate would pass a number for an object, or an object for a number.
using System;
using System.Reflection;

delegate void ByReference(ref string text);

enum Color { Red = 1 }

struct Value
{
    public long Number;
    public void Show() { Console.Write("{0} ", Number); }
}

class Program
{
    static void TakesObject(object value) { Console.Write("{0} ", value); }
    static void TakesInt(int value) { Console.Write("{0} ", value); }
    static void TakesTwo(int first, string second) { Console.Write("{0} {1} ", first, second); }
    static void TakesText(string first, string second) { Console.Write("{0} {1} ", first, second); }
    static void TakesValue(Value value, string second) { Console.Write("{0} ", value.Number); }
    static void TakesObjectReference(ref object value) { value = 1; }
    static object GivesObject() { return 1; }
    static string GivesText() { return "text"; }
    static int GivesInt() { return 1; }
    static Color GivesColor() { return Color.Red; }
    void Instance(string text) { Console.Write("{0} ", text); }

    static MethodInfo Method(string name)
    {
        return typeof(Program).GetMethod(name, BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance);
    }

    static void Report(string name, Func<Delegate> make)
    {
        try
        {
            var made = make();
            if (made == null)
                Console.Write("null ");
            Console.WriteLine("{0}: bound", name);
        }
        catch (ArgumentException e)
        {
            Console.WriteLine("{0}: {1}", name, e.GetType().Name);
        }
    }

    static void Bind<T>(string method, object target = null, bool isClosed = false)
    {
        string name = typeof(T) + " " + method + (isClosed ? " closed over " + (target ?? "null") : "");
        Report(name, () => isClosed ? Delegate.CreateDelegate(typeof(T), target, Method(method)) : Delegate.CreateDelegate(typeof(T), Method(method)));
    }

    static void Main()
    {
        Bind<Action<int>>("TakesObject");
        Bind<Action<string>>("TakesObject");
        Bind<Action<object>>("TakesInt");
        Bind<Action<Color>>("TakesInt");
        Bind<Action<long>>("TakesInt");
        Bind<Action<string>>("TakesTwo", 5, true);
        Bind<Action<string>>("TakesValue", new Value { Number = 5 }, true);
        Bind<Action<string>>("TakesText", "first", true);
        Bind<Action<string>>("TakesText", null, true);
        Bind<Action<string>>("TakesText", new Program(), true);
        Bind<ByReference>("TakesObjectReference");
        Bind<Func<object>>("GivesInt");
        Bind<Func<object>>("GivesText");
        Bind<Func<string>>("GivesObject");
        Bind<Action<string>>("Instance", "text", true);
        Bind<Action<Program, string>>("Instance");
        Bind<Action<object, string>>("Instance");
        Bind<Action<int, string>>("Instance");
        ((Action<string>)Delegate.CreateDelegate(typeof(Action<string>), "first", Method("TakesText")))("second");
        ((Action)Delegate.CreateDelegate(typeof(Action), new Value { Number = 7 }, typeof(Value).GetMethod("Show")))();
        Console.WriteLine();
    }
}
