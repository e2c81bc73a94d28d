// Custom attributes: constructor and named arguments of every kind, inheritance, multiplicity, well-known attributes.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
class MarkAttribute : Attribute
{
    public readonly object[] Values;
    public int Number;
    public string Text { get; set; }
    public Type Kind;
    public DayOfWeek[] Days;
    public object Anything;
    public MarkAttribute(params object[] values) { Values = values; }
    public MarkAttribute(bool b, char c, byte u1, short i2, long i8, float r4, double r8, string s, Type t, DayOfWeek e, int[] a) { Values = new object[] { b, c, u1, i2, i8, r4, r8, s, t, e, a.Length }; }

    public override string ToString()
    {
        return "(" + string.Join(",", Values.Select(v => v ?? "null")) + ") " + Number + " " + (Text ?? "-") + " " + (Kind == null ? "-" : Kind.Name) + " " + (Days == null ? "-" : string.Join("+", Days)) + " " + (Anything ?? "-");
    }
}

[AttributeUsage(AttributeTargets.Class, Inherited = false)]
class NotInheritedAttribute : Attribute { }
class InheritedAttribute : Attribute { }

[Mark(true, 'c', 200, -5, 1L << 40, 1.5f, 2.5, "s\u00e9", typeof(System.Collections.Generic.List<int>), DayOfWeek.Friday, new[] { 1, 2, 3 }, Number = 7)]
[Mark(1, "two", null, typeof(string), Text = "named", Kind = typeof(int[]), Days = new[] { DayOfWeek.Monday, DayOfWeek.Sunday }, Anything = 5)]
[Inherited, NotInherited, Serializable, Obsolete("old")]
class Marked
{
    [Mark(Text = "field")] public int Field;
    [Mark][return: Mark(Text = "return")] public int Method([Mark(Text = "parameter")] int x, [Optional, DefaultParameterValue(5)] int y) { return x; }
    [Mark(Text = "property")] public int Property { get; set; }
    public virtual void Generic<[Mark(Text = "type parameter")] T>() { }
}

class Sub : Marked { }

static class Program
{
    static void Main()
    {
        foreach (MarkAttribute m in typeof(Marked).GetCustomAttributes(typeof(MarkAttribute), false).OrderBy(a => a.ToString(), StringComparer.Ordinal))
            Console.WriteLine(m);
        Console.WriteLine("{0} {1}", typeof(Sub).IsDefined(typeof(InheritedAttribute), true), typeof(Sub).IsDefined(typeof(NotInheritedAttribute), true));
        Console.WriteLine("{0} {1}", typeof(Sub).GetCustomAttributes(typeof(MarkAttribute), true).Length, typeof(Sub).GetCustomAttributes(typeof(MarkAttribute), false).Length);
        Console.WriteLine(typeof(Marked).GetField("Field").GetCustomAttribute<MarkAttribute>());
        MethodInfo method = typeof(Marked).GetMethod("Method");
        Console.WriteLine("{0} | {1}", method.GetCustomAttribute<MarkAttribute>(), method.ReturnParameter.GetCustomAttributes(typeof(MarkAttribute), false)[0]);
        Console.WriteLine(method.GetParameters()[0].GetCustomAttribute<MarkAttribute>());
        Console.WriteLine("{0} {1}", method.GetParameters()[1].IsOptional, method.GetParameters()[1].RawDefaultValue);
        Console.WriteLine(typeof(Marked).GetProperty("Property").GetCustomAttribute<MarkAttribute>());
        Console.WriteLine(typeof(Marked).GetMethod("Generic").GetGenericArguments()[0].GetCustomAttributes(false)[0]);
        Console.WriteLine("{0} {1}", typeof(Marked).IsSerializable, typeof(Marked).GetCustomAttribute<ObsoleteAttribute>().Message);
        Console.WriteLine(typeof(Marked).Assembly.IsDefined(typeof(RuntimeCompatibilityAttribute), false));
        CustomAttributeData data = typeof(Marked).GetField("Field").GetCustomAttributesData()[0];
        Console.WriteLine("{0} {1} {2}", data.Constructor.DeclaringType.Name, data.NamedArguments[0].MemberInfo.Name, data.NamedArguments[0].TypedValue.Value);
    }
}
