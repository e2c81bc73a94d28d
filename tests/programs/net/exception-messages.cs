// The types and messages of the exceptions that the machine itself throws.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;
using Microsoft.Win32.SafeHandles;

class WithoutConstructor
{
    public WithoutConstructor(int number) { }
}

class PrivateConstructor
{
    PrivateConstructor() { }
}

abstract class Abstract { }

interface IFace { void M(); }

class Failing
{
    static Failing() => throw new InvalidOperationException("failed");
    public static int Number;
    public static void M() { }
}

class Generic<T> where T : struct { }

class Outer { public class Inner { } }

sealed class HandleWithoutConstructor : SafeHandleZeroOrMinusOneIsInvalid
{
    public HandleWithoutConstructor(int number) : base(true) { }
    protected override bool ReleaseHandle() => true;
}

abstract class AbstractHandle : SafeHandleZeroOrMinusOneIsInvalid
{
    public AbstractHandle() : base(true) { }
}

[StructLayout(LayoutKind.Explicit)]
struct Unaligned
{
    [FieldOffset(1)] public object Reference;
}

[StructLayout(LayoutKind.Explicit)]
class Overlapping
{
    [FieldOffset(0)] public object Reference;
    [FieldOffset(0)] public int Number;
}

class Holder
{
    [StructLayout(LayoutKind.Explicit)]
    public struct Unaligned
    {
        [FieldOffset(0)] public int Number;
        [FieldOffset(4)] public object Reference;
    }
}

struct Two
{
    public int Number;
    public object Reference;
}

[StructLayout(LayoutKind.Explicit)]
struct UnalignedStruct
{
    [FieldOffset(4)] public Two Two;
}

[StructLayout(LayoutKind.Explicit)]
struct OverlappingSecond
{
    [FieldOffset(0)] public object First;
    [FieldOffset(8)] public object Reference;
    [FieldOffset(12)] public int Number;
}

struct Managed { public object Reference; }

enum Colour { Red }

static class Program
{
    [DllImport("no-such-library")]
    static extern void Absent();
    [DllImport("libc", EntryPoint = "no_such_function")]
    static extern void NoEntry();
    [DllImport("libc", EntryPoint = "getpid")]
    static extern HandleWithoutConstructor GetHandle();
    [DllImport("libc", EntryPoint = "getpid")]
    static extern AbstractHandle GetAbstractHandle();
    [DllImport("libc", EntryPoint = "getpid")]
    static extern int PassesGeneric(List<int> list);
    [DllImport("libc", EntryPoint = "getpid")]
    static extern object ReturnsObject();
    [DllImport("libc", EntryPoint = "getpid")]
    static extern int PassesManaged(Managed managed);
    [DllImport("libc", EntryPoint = " ")]
    static extern int EmptyEntry();
    [MethodImpl(MethodImplOptions.InternalCall)]
    static extern void InternalCall();

    static void Main()
    {
        Faults();
        Casts();
        Loads();
        Members();
        Interop();
        Various();
    }

    static void Faults()
    {
        Title("faults");
        Tries("null string", () => ((string)null).Length);
        Tries("null field", () => ((Node)null).Next);
        Tries("null array", () => ((int[])null)[0]);
        Tries("null delegate", () => { ((Action)null)(); return null; });
        Tries("null call", () => ((IFace)null).GetType());
        Tries("index", () => (new int[1])[Number(1)]);
        Tries("index of two", () => (new int[1, 1])[Number(1), 0]);
        Tries("divide", () => 1 / Number(0));
        Tries("remainder", () => int.MinValue % Number(-1));
        Tries("divide overflow", () => int.MinValue / Number(-1));
        Tries("decimal", () => 1m / Number(0));
        Tries("overflow", () => checked(Number(int.MaxValue) + 1));
        Tries("conversion", () => checked((byte)Number(256)));
        Tries("float conversion", () => checked((int)(double.NaN * Number(1))));
        Tries("size", () => new int[Number(-1)]);
        Tries("large", () => new long[Number(int.MaxValue)]);
        Tries("lengths", () => new int[Number(int.MaxValue), Number(int.MaxValue)]);
        Tries("store", () => { object[] array = new string[1]; array[0] = Number(1); return null; });
        Tries("store of arrays", () => { object[] array = new IFace[1]; array[0] = new int[1]; return null; });
        Tries("element address", () => { object[] array = new string[1]; return Address(ref array[0]); });
        Tries("lock", () => { System.Threading.Monitor.Exit(new object()); return null; });
        Tries("thrown null", () => throw null);
        Tries("string size", () => new string('x', Number(-1)));
        Tries("string too large", () => new string('x', Number(int.MaxValue)));
        Tries("stackalloc", () => { Span<int> span = stackalloc int[1]; return span[Number(1)]; });
    }

    static void Casts()
    {
        Title("casts");
        Tries("class", () => (string)(object)Number(1));
        Tries("interface", () => (IFace)new object());
        Tries("array", () => (string[])(object)new int[1]);
        Tries("arrays", () => (int[,])(object)new int[1]);
        Tries("generic", () => (List<string>)(object)new List<int>());
        Tries("unbox", () => (int)(object)"text");
        Tries("unbox other", () => (long)(object)1);
        Tries("unbox null", () => (int)(object)null);
        Tries("unbox nullable", () => (int?)(object)1L);
        Tries("unbox enum", () => (Colour)(object)1L);
        Tries("nested", () => (Outer.Inner)(object)new Outer());
        Tries("nested generic", () => (Dictionary<string, Outer.Inner>.Enumerator)(object)new Outer.Inner[0]);
        Tries("delegate", () => (Action)(object)new Func<int>(() => 1));
        Tries("generic variable", () => CastTo<string>(1));
        Tries("generic value", () => CastTo<int>("text"));
        Tries("enumerable", () => { foreach (string text in (System.Collections.IEnumerable)new object[] { 1 }) { } return null; });
        Tries("null to nullable value", () => ((int?)null).Value);
    }

    static void Loads()
    {
        Title("loads");
        Tries("assembly", () => Assembly.Load("NoSuchAssembly"));
        Tries("assembly with version", () => Assembly.Load("NoSuchAssembly, Version=1.2.3.4"));
        Tries("assembly with version 0", () => Assembly.Load("NoSuchAssembly, Version=0.0.0.0"));
        Tries("assembly with two parts", () => Assembly.Load("NoSuchAssembly, Version=1.2"));
        Tries("full assembly", () => Assembly.Load("NoSuchAssembly, Version=1.2.3.4, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a"));
        Tries("assembly with culture", () => Assembly.Load("NoSuchAssembly, Culture=de"));
        Tries("assembly with token", () => Assembly.Load("NoSuchAssembly, PublicKeyToken=null"));
        Tries("assembly with bad name", () => Assembly.Load("NoSuchAssembly, Version=x"));
        Tries("assembly without name", () => Assembly.Load(""));
        Tries("assembly null", () => Assembly.Load((string)null));
        Tries("assembly null name", () => Assembly.Load((AssemblyName)null));
        Tries("assembly by name", () => Assembly.Load(new AssemblyName("NoSuchAssembly")));
        Tries("assembly by name with version", () => Assembly.Load(new AssemblyName("NoSuchAssembly") { Version = new Version(1, 0) }));
        Tries("assembly of rubbish", () => Assembly.Load(new byte[] { 1, 2, 3 }));
        Tries("assembly of nothing", () => Assembly.Load(Array.Empty<byte>()));
        Tries("assembly of null", () => Assembly.Load((byte[])null));
        Tries("file absent", () => Assembly.LoadFrom("/no/such/file.dll"));
        Tries("file absent, LoadFile", () => Assembly.LoadFile("/no/such/file.dll"));
        Tries("file relative", () => Assembly.LoadFile("file.dll"));
        Tries("file in a context", () => new AssemblyLoadContext("own").LoadFromAssemblyPath("/no/such/file.dll"));
        Tries("name in a context", () => new AssemblyLoadContext("own").LoadFromAssemblyName(new AssemblyName("NoSuchAssembly")));
        Tries("stream in a context", () => new AssemblyLoadContext("own").LoadFromStream(new MemoryStream(new byte[100])));
        Tries("rubbish file", () => Assembly.LoadFrom("/etc/passwd"));
        Tries("newer core", () => Assembly.Load("System.Runtime, Version=99.0.0.0"));
        Tries("other token", () => Assembly.Load("System.Runtime, Version=9.0.0.0, Culture=neutral, PublicKeyToken=0011223344556677"));
        Tries("newer library", () => Assembly.Load("System.Collections, Version=99.0.0.0"));
        Tries("type", () => Type.GetType("NoSuchType", true));
        Tries("type with namespace", () => Type.GetType("No.Such.Type", true));
        Tries("type of absent assembly", () => Type.GetType("NoSuchType, NoSuchAssembly", true));
        Tries("type of absent assembly with version", () => Type.GetType("NoSuchType, NoSuchAssembly, Version=1.0.0.0", true));
        Tries("type of library", () => Type.GetType("NoSuchType, System.Runtime", true));
        Tries("type of full library", () => Type.GetType("NoSuchType, System.Runtime, Version=9.0.0.0, Culture=neutral, PublicKeyToken=b03f5f7f11d50a3a", true));
        Tries("nested type", () => Type.GetType("Outer+None", true));
        Tries("generic argument", () => Type.GetType("System.Collections.Generic.List`1[NoSuchType]", true));
        Tries("generic count", () => Type.GetType("System.Collections.Generic.List`1[System.Int32,System.Int32]", true));
        Tries("generic constraint", () => typeof(Generic<>).MakeGenericType(typeof(string)));
        Tries("array of by-ref", () => Type.GetType("System.Int32&[]", true));
        Tries("syntax", () => Type.GetType("System.Int32[", true));
        Tries("empty", () => Type.GetType("", true));
        Tries("case", () => Type.GetType("system.int32", true));
        Tries("type in assembly", () => typeof(Program).Assembly.GetType("NoSuchType", true));
        Tries("type in core", () => typeof(object).Assembly.GetType("NoSuchType", true));
        Tries("type in module", () => typeof(object).Module.GetType("NoSuchType", true, false));
        Tries("create by name", () => Activator.CreateInstance("NoSuchAssembly", "NoSuchType"));
        Tries("create absent type", () => Activator.CreateInstance("System.Runtime", "NoSuchType"));
        Tries("create in assembly", () => typeof(Program).Assembly.CreateInstance("NoSuchType"));
        Tries("execute", () => AppDomain.CurrentDomain.ExecuteAssembly("/no/such/file.dll"));
        Tries("execute by name", () => AppDomain.CurrentDomain.ExecuteAssemblyByName("NoSuchAssembly"));
        Tries("file's name", () => AssemblyName.GetAssemblyName("/no/such/file.dll"));
        // What is said depends on the length.
        string rubbish = Path.GetTempFileName();
        File.WriteAllText(rubbish, new string('r', 1000));
        Tries("rubbish's name", () => AssemblyName.GetAssemblyName(rubbish));
        File.Delete(rubbish);
        Tries("satellite", () => typeof(Program).Assembly.GetSatelliteAssembly(new CultureInfo("de")));
    }

    static void Members()
    {
        Title("members");
        Tries("no constructor", () => Activator.CreateInstance(typeof(WithoutConstructor)));
        Tries("no constructor, generic", () => Activator.CreateInstance<WithoutConstructor>());
        Tries("private constructor", () => Activator.CreateInstance(typeof(PrivateConstructor)));
        Tries("private constructor, generic", () => Activator.CreateInstance<PrivateConstructor>());
        Tries("other constructor", () => Activator.CreateInstance(typeof(WithoutConstructor), "text"));
        Tries("abstract", () => Activator.CreateInstance(typeof(Abstract)));
        Tries("abstract, generic", () => Activator.CreateInstance<Abstract>());
        Tries("interface", () => Activator.CreateInstance(typeof(IFace)));
        Tries("interface, generic", () => Activator.CreateInstance<IFace>());
        Tries("array", () => Activator.CreateInstance(typeof(int[])));
        Tries("array, generic", () => Activator.CreateInstance<int[]>());
        Tries("string", () => Activator.CreateInstance(typeof(string)));
        Tries("open", () => Activator.CreateInstance(typeof(List<>)));
        Tries("void", () => Activator.CreateInstance(typeof(void)));
        Tries("pointer", () => Activator.CreateInstance(typeof(int*)));
        Tries("delegate", () => Activator.CreateInstance(typeof(Action)));
        Tries("uninitialized string", () => RuntimeHelpers.GetUninitializedObject(typeof(string)));
        Tries("uninitialized interface", () => RuntimeHelpers.GetUninitializedObject(typeof(IFace)));
        Tries("uninitialized open", () => RuntimeHelpers.GetUninitializedObject(typeof(List<>)));
        Tries("uninitialized by-ref-like", () => RuntimeHelpers.GetUninitializedObject(typeof(Span<int>)));
        Tries("uninitialized array", () => RuntimeHelpers.GetUninitializedObject(typeof(int[])));
        Tries("class constructor", () => { Failing.M(); return null; });
        Tries("class constructor again", () => Failing.Number);
        Tries("class constructor asked for", () => { RuntimeHelpers.RunClassConstructor(typeof(Failing).TypeHandle); return null; });
        Tries("invoke", () => typeof(Program).GetMethod("Throws", BindingFlags.Static | BindingFlags.NonPublic).Invoke(null, null));
        Tries("invoke with null", () => typeof(string).GetMethod("Trim", Type.EmptyTypes).Invoke(null, null));
        Tries("invoke on other", () => typeof(string).GetMethod("Trim", Type.EmptyTypes).Invoke(1, null));
        Tries("invoke count", () => typeof(string).GetMethod("Trim", Type.EmptyTypes).Invoke("", new object[] { 1 }));
        Tries("invoke argument", () => typeof(string).GetMethod("Contains", new[] { typeof(string) }).Invoke("", new object[] { 1 }));
        Tries("invoke open", () => typeof(Program).GetMethod("CastTo", BindingFlags.Static | BindingFlags.NonPublic).Invoke(null, new object[] { 1 }));
        Tries("set field", () => { typeof(Node).GetField("Next").SetValue(new Node(), 1); return null; });
        Tries("get field of other", () => typeof(Node).GetField("Next").GetValue("text"));
        Tries("get field of null", () => typeof(Node).GetField("Next").GetValue(null));
        Tries("set literal", () => { typeof(int).GetField("MaxValue").SetValue(null, 1); return null; });
        Tries("delegate to other", () => Delegate.CreateDelegate(typeof(Action), typeof(string).GetMethod("Trim", Type.EmptyTypes)));
        Tries("delegate by name", () => Delegate.CreateDelegate(typeof(Action), typeof(Program), "None"));
        Tries("invoke member", () => typeof(Program).InvokeMember("None", BindingFlags.InvokeMethod, null, null, null));
        Tries("invoke field", () => typeof(Program).InvokeMember("None", BindingFlags.GetField, null, null, null));
        Tries("ambiguous", () => typeof(Console).GetMethod("WriteLine"));
        Tries("make generic", () => typeof(Program).GetMethod("CastTo", BindingFlags.Static | BindingFlags.NonPublic).MakeGenericMethod());
        Tries("generic of none", () => typeof(Program).GetMethod("Throws", BindingFlags.Static | BindingFlags.NonPublic).MakeGenericMethod(typeof(int)));
        Tries("dynamic invoke", () => new Action(Throws).DynamicInvoke());
        Tries("dynamic invoke count", () => new Action(Throws).DynamicInvoke(1));
    }

    static void Interop()
    {
        Title("interop");
        Tries("library", () => { Absent(); return null; }, 1);
        Tries("entry", () => { NoEntry(); return null; });
        Tries("empty entry", () => EmptyEntry());
        Tries("handle", () => GetHandle());
        Tries("abstract handle", () => GetAbstractHandle());
        Tries("generic", () => PassesGeneric(null));
        Tries("object", () => ReturnsObject());
        Tries("managed struct", () => PassesManaged(default));
        Tries("internal call", () => { InternalCall(); return null; });
        Tries("load", () => NativeLibrary.Load("no-such-library"), 1);
        Tries("load file", () => NativeLibrary.Load("/etc/passwd"), 1);
        Tries("export", () => NativeLibrary.GetExport(NativeLibrary.Load("libc.so.6"), "no_such_function"));
        Tries("size of managed", () => Marshal.SizeOf<Managed>());
        Tries("size of class", () => Marshal.SizeOf(typeof(Node)));
        Tries("size of string", () => Marshal.SizeOf(typeof(string)));
        Tries("size of generic", () => Marshal.SizeOf(typeof(KeyValuePair<int, int>)));
        Tries("offset", () => Marshal.OffsetOf<Node>("None"));
        Tries("function pointer", () => Marshal.GetFunctionPointerForDelegate<Func<List<int>, int>>(list => 1));
        Tries("generic delegate", () => Marshal.GetDelegateForFunctionPointer<Func<int>>(1));
        Tries("pin", () => GCHandle.Alloc(new object[1], GCHandleType.Pinned));
        Tries("no handle", () => default(GCHandle).Target);
        Tries("unaligned", () => Loads<Unaligned>());
        Tries("overlapping", () => new Overlapping());
        Tries("unaligned nested", () => Loads<Holder.Unaligned>());
        Tries("unaligned struct", () => Loads<UnalignedStruct>());
        Tries("overlapping second", () => Loads<OverlappingSecond>());
        Tries("array of handle", () => Marshal.PtrToStructure<Node>(0));
        Tries("closed handle", () => { var handle = new SafeFileHandle(0, false); handle.Dispose(); bool added = false; handle.DangerousAddRef(ref added); return null; });
    }

    static void Various()
    {
        Title("various");
        Tries("stack", () => { RuntimeHelpers.EnsureSufficientExecutionStack(); return "enough"; });
        Tries("resource", () => new System.Resources.ResourceManager("None", typeof(Program).Assembly).GetString("text"));
        Tries("array type", () => Array.CreateInstance(typeof(void), 1));
        Tries("array of by-ref-like", () => Array.CreateInstance(typeof(Span<int>), 1));
        Tries("array of open", () => Array.CreateInstance(typeof(List<>), 1));
        Tries("array negative", () => Array.CreateInstance(typeof(int), -1));
        Tries("array copy", () => { Array.Copy(new string[] { "a" }, new int[1], 1); return null; });
        Tries("array copy cast", () => { Array.Copy(new object[] { "a" }, new IFace[1], 1); return null; });
        Tries("array copy range", () => { Array.Copy(new int[1], new int[1], 2); return null; });
        Tries("array copy ranks", () => { Array.Copy(new int[1], new int[1, 1], 1); return null; });
        Tries("array value", () => { new int[1].SetValue("text", 0); return null; });
        Tries("array index", () => new int[1].GetValue(1));
        Tries("array indices", () => new int[1, 1].GetValue(1));
        Tries("array dimension", () => new int[1].GetLength(1));
        Tries("enum", () => Enum.Parse(typeof(Colour), "Blue"));
        Tries("enum type", () => Enum.GetNames(typeof(int)));
        Tries("span", () => new int[1].AsSpan(2).Length);
        Tries("array as span", () => { object[] array = new string[1]; return array.AsSpan().Length; });
        Tries("wait", () => { System.Threading.Monitor.Wait(new object()); return null; });
        Tries("domain", () => AppDomain.CreateDomain("name"));
        Tries("abort", () => { System.Threading.Thread.CurrentThread.Abort(); return null; });
        Tries("begin", () => new Action(Throws).BeginInvoke(null, null));
        Tries("started", () => { var thread = System.Threading.Thread.CurrentThread; thread.Start(); return null; });
    }

    class Node { public Node Next; }

    static void Throws() => throw new ApplicationException("thrown");

    static string Loads<T>() where T : struct => default(T).ToString();

    static T CastTo<T>(object value) => (T)value;

    static int Address<T>(ref T place) => 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Number(int number) => number;

    static void Title(string text) => Console.WriteLine($"== {text}");

    // The lines of a message: all, or the first ones, where the others say what differs by machine.
    static void Tries(string name, Func<object> code, int lines = int.MaxValue)
    {
        try
        {
            object result = code();
            Console.WriteLine($"{name}: {result ?? "null"}");
        }
        catch (Exception e)
        {
            for (string indent = ""; e != null; e = e.InnerException, indent += "  ")
            {
                string[] all = e.Message.Split('\n');
                string message = string.Join("|", all.AsSpan(0, Math.Min(lines, all.Length)).ToArray());
                Console.WriteLine($"{name}: {indent}{e.GetType()}: {message} {e.HResult:x}{More(e)}");
            }
        }
    }

    static string More(Exception e) => e switch
    {
        FileNotFoundException file => $" [{file.FileName}]",
        FileLoadException file => $" [{file.FileName}]",
        BadImageFormatException file => $" [{file.FileName}]",
        TypeLoadException type => $" [{type.TypeName}]",
        TypeInitializationException type => $" [{type.TypeName}]",
        ArgumentException argument => $" [{argument.ParamName}]",
        ObjectDisposedException disposed => $" [{disposed.ObjectName}]",
        _ => "",
    };
}
