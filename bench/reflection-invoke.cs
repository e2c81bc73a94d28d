// Calls by reflection. Prints "name nanoseconds" a line: the time of one call, best of seven rounds.
using System;
using System.Diagnostics;
using System.Reflection;

class ReflectionInvoke
{
    const int Rounds = 7;
    const int Calls = 500000;

    int total;

    public static void Nothing() { }

    public int Add(int left, int right)
    {
        total += left;
        return left + right;
    }

    public string Join(string left, object right)
    {
        return left ?? (string)right;
    }

    public static bool Place(int value, out int result)
    {
        result = value;
        return true;
    }

    public int Total
    {
        get { return total; }
        set { total = value; }
    }

    static void Measure(string name, Action<int> body)
    {
        body(2000);
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            body(Calls);
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Calls);
        }
        Console.WriteLine("{0} {1:F1}", name, best);
    }

    static void Main()
    {
        var target = new ReflectionInvoke();
        Type type = typeof(ReflectionInvoke);
        MethodInfo nothing = type.GetMethod("Nothing"), add = type.GetMethod("Add"), join = type.GetMethod("Join"), place = type.GetMethod("Place");
        PropertyInfo property = type.GetProperty("Total");
        FieldInfo field = type.GetField("total", BindingFlags.Instance | BindingFlags.NonPublic);
        ConstructorInfo constructor = type.GetConstructor(Type.EmptyTypes);
        object[] numbers = { 1, 2 }, texts = { "a", "b" }, none = { };
        Delegate function = new Func<int, int, int>(target.Add);

        Measure("static", count => { for (int i = 0; i < count; i++) nothing.Invoke(null, null); });
        Measure("integers", count => { for (int i = 0; i < count; i++) add.Invoke(target, numbers); });
        Measure("references", count => { for (int i = 0; i < count; i++) join.Invoke(target, texts); });
        Measure("out", count => { object[] places = { 1, null }; for (int i = 0; i < count; i++) place.Invoke(null, places); });
        Measure("property", count => { for (int i = 0; i < count; i++) property.GetValue(target, null); });
        Measure("field", count => { for (int i = 0; i < count; i++) field.GetValue(target); });
        Measure("constructor", count => { for (int i = 0; i < count; i++) constructor.Invoke(none); });
        Measure("create", count => { for (int i = 0; i < count; i++) Activator.CreateInstance(type); });
        Measure("delegate", count => { for (int i = 0; i < count; i++) function.DynamicInvoke(numbers); });
    }
}
