// Reflection: members, invocation, generics, attributes, nullability, function pointer types, assemblies.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
class MarkAttribute(string text) : Attribute
{
    public string Text => text;
    public Type About { get; set; }
    public int[] Numbers { get; set; }
}

class MarkAttribute<T> : Attribute { }

[Mark("class", About = typeof(List<>), Numbers = [1, 2]), Mark<int>]
class Sample
{
    public int Field = 5;
    static readonly string Hidden = "hidden";
    public string Name { get; private set; } = "name";
    public event Action Changed;
    public Sample() { }
    public Sample(string name) => Name = name;
    [Mark("method")] public string Join([Mark("parameter")] int count, string word = "w") => string.Concat(Enumerable.Repeat(word, count));
    public static T Same<T>(T value) where T : notnull => value;
    public void Changes(ref int value, out string text) { value++; text = "out"; Changed?.Invoke(); }
    int Fails() => throw new NotSupportedException("inside");
    class Nested<T> { public Dictionary<string, T[]> All; }
}

static class Test
{
    const BindingFlags Everything = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    static void Main()
    {
        Type t = typeof(Sample);
        foreach (string member in t.GetMembers(Everything).Where(m => !m.IsDefined(typeof(CompilerGeneratedAttribute)))
            .Select(m => $"{m.MemberType} {m}").Order(StringComparer.Ordinal)) Console.WriteLine(member);
        object o = Activator.CreateInstance(t, "made");
        Console.WriteLine(t.GetProperty("Name").GetValue(o));
        t.GetField("Field").SetValue(o, 8);
        t.GetProperty("Name").SetValue(o, "set");
        Console.WriteLine(((Sample)o).Field + ((Sample)o).Name + t.GetField("Hidden", Everything).GetValue(null));
        MethodInfo join = t.GetMethod("Join");
        Console.WriteLine(join.Invoke(o, [3, "ab"]) + " " + join.Invoke(o, [2, Type.Missing]));
        object[] arguments = [41, null];
        t.GetMethod("Changes").Invoke(o, arguments);
        Console.WriteLine(arguments[0] + " " + arguments[1]);
        Console.WriteLine(t.GetMethod("Same").MakeGenericMethod(typeof(string)).Invoke(null, ["same"]));
        try { t.GetMethod("Fails", Everything).Invoke(o, null); } catch (TargetInvocationException e) { Console.WriteLine(e.InnerException.Message); }
        try { join.Invoke(o, ["x", "y"]); } catch (ArgumentException e) { Console.WriteLine(e.GetType().Name); }
        try { join.Invoke(null, [1, "y"]); } catch (TargetException e) { Console.WriteLine(e.GetType().Name); }
        var invoker = MethodInvoker.Create(join);
        Console.WriteLine(invoker.Invoke(o, 2, "inv") + " " + ConstructorInvoker.Create(t.GetConstructor([typeof(string)])).Invoke("c"));
        var handler = join.CreateDelegate<Func<Sample, int, string, string>>();
        Console.WriteLine(handler((Sample)o, 2, "d"));
        foreach (var mark in t.GetCustomAttributes<MarkAttribute>()) Console.WriteLine($"{mark.Text} {mark.About} {mark.Numbers.Sum()}");
        Console.WriteLine(t.IsDefined(typeof(MarkAttribute<int>)) + " " + t.IsDefined(typeof(MarkAttribute<long>)));
        Console.WriteLine(join.GetParameters()[0].GetCustomAttribute<MarkAttribute>().Text + " " + join.GetParameters()[1].DefaultValue);
        Type nested = t.GetNestedType("Nested`1", Everything);
        Console.WriteLine(nested + " " + nested.MakeGenericType(typeof(int)).GetField("All").FieldType);
        Console.WriteLine(typeof(Dictionary<string, int[]>).FullName.Split(',')[0]);
        Console.WriteLine(typeof(IEnumerable<object>).IsAssignableFrom(typeof(List<string>)) + " " + typeof(int).IsAssignableTo(typeof(IComparable)) + " " + typeof(int[,]).GetArrayRank());
        Console.WriteLine(Type.GetType("System.Collections.Generic.List`1[[System.Int32]]") == typeof(List<int>));
        Console.WriteLine(Type.GetType("No.Such.Type") == null);
        var nullable = new NullabilityInfoContext().Create(t.GetProperty("Name"));
        Console.WriteLine(nullable.ReadState);
        Console.WriteLine(typeof(List<int>).GetInterfaces().Length + " " + typeof(int?).GetGenericArguments()[0].Name + " " + Nullable.GetUnderlyingType(typeof(int?)));
        Console.WriteLine(RuntimeHelpers.GetUninitializedObject(t) is Sample { Field: 0 });
        Console.WriteLine(t.Assembly.GetTypes().Count(x => x.Name.StartsWith("Mark")) + " " + t.Assembly.EntryPoint.Name + " " + t.Module.Name);
    }
}
