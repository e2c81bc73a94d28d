// ArgumentExceptions of the runtime itself name the parameter, apart from the message; null for a Nullable's constructor is its type's default.
using System;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Runtime.Serialization;

class Constrained<T> where T : struct { }

class Program {
    enum Letters { A }
    class Plain { }
    [StructLayout(LayoutKind.Sequential)] class Native { public int X; }
    static void Structs<T>() where T : struct { }

    static void Try(Action action) {
        try { action(); Console.WriteLine("nothing"); }
        catch (ArgumentException e) { Console.WriteLine(e.GetType().Name + " [" + e.ParamName + "] " + e.Message.Replace("\n", "|")); }
    }

    static void Main() {
        Try(() => Enum.GetName(typeof(string), Letters.A));
        Try(() => Enum.IsDefined(typeof(string), 4));
        Try(() => typeof(int).GetEnumName(1));
        Try(() => typeof(Constrained<>).MakeGenericType(typeof(string)));
        Try(() => typeof(Program).GetMethod("Structs", BindingFlags.Static | BindingFlags.NonPublic).MakeGenericMethod(typeof(string)));
        Try(() => Type.GetType("System.Collections.Generic.List`1[[System.Int32],[System.Int32]]"));
        Try(() => Marshal.OffsetOf(typeof(Native), "Y"));
        Try(() => Marshal.SizeOf(typeof(Plain)));
        Try(() => Marshal.GetDelegateForFunctionPointer((IntPtr)8, typeof(Plain)));
        Try(() => Assembly.LoadFile("relative.dll"));

        ConstructorInfo make = typeof(int?).GetConstructors()[0];
        Console.WriteLine(make.Invoke(new object[] { null }) ?? "null");
        Console.WriteLine(make.Invoke(new object[] { 7 }) ?? "null");
        Console.WriteLine(Activator.CreateInstance(typeof(TimeSpan?), new object[] { null }) ?? "null");
        Console.WriteLine(Activator.CreateInstance(typeof(int?)) ?? "null");
    }
}
