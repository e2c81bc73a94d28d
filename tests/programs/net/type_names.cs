using System;
using System.Collections.Generic;
using System.Reflection;
public class Outer<T> { public class Inner { } public enum E { A } }
public interface IOne { } public interface ITwo : IOne { }
public abstract class Base : ITwo { protected int b; public static string S; public abstract void M(); }
public sealed class Derived : Base, IDisposable {
  public int X; private readonly string y = "y"; public const int K = 5; public static int Counter;
  public Derived() { } public Derived(int x) { X = x; }
  public override void M() { }
  public void Dispose() { }
  public int Prop { get; set; }
  public string this[int i] => i.ToString();
  public event EventHandler Ev;
  public T Gen<T>(T t, List<T> l) where T : class => t;
  private static int Priv(ref int a, out string s, params object[] r) { s = ""; return a; }
}
public struct Pt { public int A; public double B; }
public static class P {
  static void Show(Type t) {
    Console.WriteLine($"{t.Name} | {t.FullName} | {t} | {t.Namespace} | {t.Attributes} | {t.IsClass} {t.IsValueType} {t.IsInterface} {t.IsArray} {t.IsPointer} {t.IsByRef} {t.IsPrimitive} {t.IsEnum} {t.IsGenericType} {t.IsGenericTypeDefinition} {t.ContainsGenericParameters} {t.IsNested} {t.IsSealed} {t.IsAbstract} {t.IsVisible}");
    Console.WriteLine("  base " + t.BaseType + " decl " + t.DeclaringType + " elem " + t.GetElementType() + " code " + Type.GetTypeCode(t) + " token " + t.MetadataToken.ToString("x").Substring(0, 1));
  }
  public static unsafe void Main() {
    foreach (var t in new[] { typeof(int), typeof(string), typeof(object), typeof(Derived), typeof(Base), typeof(Pt), typeof(List<int>), typeof(List<>), typeof(Dictionary<string, int[]>), typeof(int[]), typeof(int[,]), typeof(string[][,,]), typeof(int*), typeof(int).MakeByRefType(), typeof(Outer<int>.Inner), typeof(Outer<>.Inner), typeof(Outer<string>.E), typeof(DayOfWeek), typeof(int?), typeof(void), typeof(IOne), typeof(ITwo), typeof(TypedReference), typeof(IntPtr), typeof(Action<,>), typeof(delegate*<int, void>), typeof(decimal), typeof(DateTime) }) Show(t);
    var g = typeof(List<>).GetGenericArguments()[0];
    Console.WriteLine(g.Name + " " + g.FullName + " " + g.IsGenericParameter + " " + g.GenericParameterPosition + " " + g.DeclaringType);
    var gm = typeof(Derived).GetMethod("Gen");
    Console.WriteLine(gm + " " + gm.GetGenericArguments()[0].DeclaringMethod + " " + gm.GetGenericArguments()[0].GenericParameterAttributes);
    Console.WriteLine(typeof(List<int>).GetGenericTypeDefinition() == typeof(List<>));
    Console.WriteLine(typeof(List<>).MakeGenericType(typeof(string)) == typeof(List<string>));
    Console.WriteLine(typeof(int).MakeArrayType() + " " + typeof(int).MakeArrayType(1) + " " + typeof(int).MakeArrayType(3) + " " + typeof(int).MakePointerType());
    Console.WriteLine(typeof(List<int>).FullName.Contains("System.Private.CoreLib"));
    foreach (var i in typeof(Derived).GetInterfaces()) Console.WriteLine("iface " + i);
    foreach (var i in typeof(List<int>).GetInterfaces()) Console.WriteLine("iface " + i);
    foreach (var i in typeof(int[]).GetInterfaces()) Console.WriteLine("iface " + i);
    Console.WriteLine(typeof(Base).IsAssignableFrom(typeof(Derived)) + " " + typeof(ITwo).IsAssignableFrom(typeof(Derived)) + " " + typeof(Derived).IsSubclassOf(typeof(Base)) + " " + typeof(IEnumerable<object>).IsAssignableFrom(typeof(List<string>)) + " " + typeof(int).IsInstanceOfType(3) + " " + typeof(long).IsInstanceOfType(3));
    const BindingFlags all = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static;
    foreach (var m in typeof(Derived).GetMethods(all)) Console.WriteLine("method " + m + " | " + m.DeclaringType + " | " + m.Attributes + " | " + m.ReturnType);
    foreach (var m in typeof(Derived).GetConstructors(all)) Console.WriteLine("ctor " + m);
    foreach (var m in typeof(Derived).GetFields(all)) Console.WriteLine("field " + m + " | " + m.Attributes);
    foreach (var m in typeof(Derived).GetProperties()) Console.WriteLine("prop " + m + " " + m.CanRead + m.CanWrite);
    foreach (var m in typeof(Derived).GetEvents()) Console.WriteLine("event " + m);
    foreach (var m in typeof(Derived).GetMembers()) Console.WriteLine("member " + m.MemberType + " " + m.Name);
    foreach (var p in typeof(Derived).GetMethod("Priv", all).GetParameters()) Console.WriteLine(p + " " + p.Position + " " + p.Attributes + " " + p.IsOut + " " + p.ParameterType.IsByRef);
    foreach (var m in typeof(int[,]).GetMethods()) Console.WriteLine("arr " + m);
    foreach (var m in typeof(int[,]).GetConstructors()) Console.WriteLine("arr " + m);
    foreach (var t in typeof(Outer<>).GetNestedTypes()) Console.WriteLine("nested " + t);
  }
}
