// Type.GUID: the value of GuidAttribute, or a number made of the type's name or, for interfaces, of their members.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

namespace A.B
{
    public class C
    {
        public class D { }
        class P { }
        public struct S { public class T { } }
        public class G<T> { }
    }

    public interface IEmpty { }
    public interface IPlain { void M(); }
    interface IHidden { void M(); }
    public unsafe interface IParameters
    {
        int M(string s, ref int x, out object o, int[] a, int[,] b);
        void Generic<T>(T t);
        string P { get; set; }
        event Action E;
        int X(List<int> l, DateTime d, C c, C.D cd, nint n, char ch = 'x', params object[] ps);
        static int Static() => 1;
        static int Field;
        bool Q(byte b, sbyte sb, short h, ushort us, uint ui, ulong ul, float f, double dd, nuint nu, IntPtr* p, delegate*<int, void> fp, TypedReference tr, Dictionary<string, List<C.S>> d);
    }
    public interface IModified { int M(in long l, int other); ref readonly int N(string s); int O { init; } }
    [ComVisible(false)] public interface IInvisible { void M(); }
    public interface IPartlyVisible { [ComVisible(false)] void M(); void N([Optional] int x); }
    public interface IGeneric<T> { T M(T t, C.G<T> l); }
    public interface IAccess { private void M() { } protected void N() { } internal void O() { } void P(); }
    [Guid("11111111-2222-3333-4444-555555555555")] public class WithNumber { }
    public class Derived : WithNumber { }
    public enum E { }
    public delegate void Del(int x);
}

class NoNamespace { public class N { } }
interface INoNamespace { void M(); interface INested { void M(); } }

static class Program
{
    static void Main()
    {
        foreach (Type type in typeof(Program).Assembly.GetTypes())
        {
            if (!type.FullName.Contains('<')) Console.WriteLine($"{type} {type.GUID}");
        }
        foreach (Type type in new[]
        {
            typeof(object), typeof(string), typeof(int), typeof(int[]), typeof(IDisposable), typeof(IComparable), typeof(List<int>), typeof(List<string>),
            typeof(List<>), typeof(Uri), typeof(Console), typeof(System.Collections.IEnumerable), typeof(Dictionary<int, int>.Enumerator), typeof(int*),
            typeof(string).MakeByRefType(), typeof(A.B.IGeneric<int>), typeof(A.B.C.G<int>), typeof(IList<string>), typeof(IFormattable),
            typeof(System.ComponentModel.INotifyPropertyChanged), typeof(List<>).GetGenericArguments()[0], typeof(string[,]), typeof(IAsyncDisposable),
        }) Console.WriteLine($"{type} {type.GUID}");
        Console.WriteLine(Marshal.GenerateGuidForType(typeof(object)));
        var module = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Made here") { Version = new Version(1, 2, 3, 4) }, AssemblyBuilderAccess.Run).DefineDynamicModule("module");
        Console.WriteLine(module.DefineType("Made.Class").CreateType().GUID);
        var made = module.DefineType("Made.IFace", TypeAttributes.Interface | TypeAttributes.Abstract | TypeAttributes.Public);
        made.DefineMethod("M", MethodAttributes.Public | MethodAttributes.Abstract | MethodAttributes.Virtual, typeof(int), new[] { typeof(string) });
        Console.WriteLine(made.CreateType().GUID);
    }
}
