// Reflection over types and members: names, flags, signatures, inheritance, generics, nested types, interfaces.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;

interface IShape { double Area { get; } event EventHandler Changed; }
abstract class Base<T> { protected T stored; public virtual T Get(T x, ref int y, out string z) { z = null; return x; } public static int Count; internal void Hidden() { } }
sealed class Square : Base<string>, IShape, ICloneable
{
    public const int Sides = 4;
    public readonly double Side = 2;
    static Square() { }
    public Square() { }
    public Square(double side, string name = "n") { Side = side; }
    public double Area { get { return Side * Side; } }
    public int this[int i, string s] { get { return i; } set { } }
    public event EventHandler Changed { add { } remove { } }
    public override string Get(string x, ref int y, out string z) { z = ""; return x; }
    object ICloneable.Clone() { return this; }
    public U Convert<U, V>(V v) where U : class, new() where V : IComparable<V> { return null; }
    public class Nested { }
    enum Kind : byte { A, B = 5 }
    delegate void Handler(int x);
    public static explicit operator int(Square s) { return 4; }
}

static class Program
{
    static string T(Type t)
    {
        return t.IsGenericType ? t.Name.Split('`')[0] + "<" + string.Join(",", t.GetGenericArguments().Select(T)) + ">" : t.Name;
    }

    static void Main()
    {
        Type type = typeof(Square);
        Console.WriteLine("{0} {1} {2} {3} {4}", type.FullName, T(type.BaseType), type.IsSealed, type.IsClass, type.IsAbstract);
        Console.WriteLine("{0} | {1}", type.Attributes, typeof(IShape).Attributes);
        Console.WriteLine(string.Join(" ", type.GetInterfaces().Select(T).OrderBy(n => n, StringComparer.Ordinal)));
        BindingFlags all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;
        foreach (MemberInfo m in type.GetMembers(all).OrderBy(m => m.MemberType.ToString() + m, StringComparer.Ordinal))
            Console.WriteLine("{0}: {1}", m.MemberType, m);
        MethodInfo get = type.GetMethod("Get");
        Console.WriteLine("{0} | {1}", get.Attributes, get.GetBaseDefinition().DeclaringType.Name);
        foreach (ParameterInfo p in get.GetParameters())
            Console.Write("{0} {1} {2} {3}; ", p.ParameterType, p.Name, p.IsOut, p.Position);
        Console.WriteLine();
        ParameterInfo optional = type.GetConstructor(new[] { typeof(double), typeof(string) }).GetParameters()[1];
        Console.WriteLine("{0} {1}", optional.IsOptional, optional.DefaultValue);
        MethodInfo convert = type.GetMethod("Convert");
        Console.WriteLine("{0} {1} {2}", convert.IsGenericMethodDefinition, convert.GetGenericArguments()[0].GenericParameterAttributes, convert.GetGenericArguments()[1].GetGenericParameterConstraints()[0]);
        Console.WriteLine(convert.MakeGenericMethod(typeof(List<int>), typeof(int)));
        Console.WriteLine("{0} {1}", type.GetField("Sides").GetRawConstantValue(), type.GetField("Side").IsInitOnly);
        Console.WriteLine("{0} {1}", type.GetProperty("Area").CanWrite, type.GetProperty("Item").GetIndexParameters().Length);
        Console.WriteLine("{0} {1}", type.GetNestedType("Nested").DeclaringType, type.GetNestedType("Kind", BindingFlags.NonPublic).GetEnumUnderlyingType());
        InterfaceMapping map = type.GetInterfaceMap(typeof(ICloneable));
        Console.WriteLine("{0} -> {1}", map.InterfaceMethods[0].Name, map.TargetMethods[0].Name);

        Console.WriteLine("{0} {1}", typeof(int[,]).GetArrayRank(), typeof(int[]).GetElementType());
        Console.WriteLine("{0} {1} {2}", typeof(int).MakeByRefType(), typeof(int).MakePointerType(), typeof(int).MakeArrayType(2));
        Console.WriteLine("{0} {1}", typeof(Dictionary<,>), typeof(Dictionary<,>).GetGenericArguments()[1].Name);
        Console.WriteLine("{0} {1}", typeof(Base<>).MakeGenericType(typeof(int)).GetField("stored", BindingFlags.NonPublic | BindingFlags.Instance).FieldType, typeof(Base<>).IsGenericTypeDefinition);
        Console.WriteLine("{0} {1} {2}", Type.GetType("System.Int32"), Type.GetType("System.Collections.Generic.List`1[System.String]"), Type.GetType("No.Such.Type") == null);
        Console.WriteLine("{0} {1}", typeof(object).IsAssignableFrom(type), typeof(IEnumerable<object>).IsAssignableFrom(typeof(List<string>)));
        Console.WriteLine("{0} {1} {2}", typeof(int?).Name, Type.GetTypeCode(typeof(int)), typeof(string).IsPrimitive);
        Console.WriteLine("{0} {1}", type.Assembly.GetName().Name, type.Module.Name);
        Console.WriteLine(string.Join(" ", type.Assembly.GetTypes().Where(t => !t.Name.Contains("<")).Select(t => t.Name).OrderBy(n => n, StringComparer.Ordinal)));
        Console.WriteLine("{0} {1}", typeof(string).Assembly.GetName().Name, typeof(Uri).Assembly.GetName().Version);
        Console.WriteLine(type.GetMethod("get_Area").MetadataToken == type.GetProperty("Area").GetGetMethod().MetadataToken);
        Console.WriteLine("{0} {1}", typeof(Program).IsAbstract && typeof(Program).IsSealed, MethodBase.GetCurrentMethod().Name);
    }
}
