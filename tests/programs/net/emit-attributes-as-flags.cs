// Attributes that .NET turns into flags of the row, on members of types made at run time; and those that stay.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

public static class Program
{
    static CustomAttributeBuilder Of (Type type, params object [] arguments) =>
        new CustomAttributeBuilder (type.GetConstructors ().First (c => c.GetParameters ().Length == arguments.Length && c.GetParameters ().Zip (arguments).All (p => p.First.ParameterType.IsInstanceOfType (p.Second))), arguments);

    static CustomAttributeBuilder Of (Type type, object [] arguments, params (string name, object value) [] fields) =>
        new CustomAttributeBuilder (type.GetConstructors ().First (c => c.GetParameters ().Length == arguments.Length && c.GetParameters ().Zip (arguments).All (p => p.First.ParameterType.IsInstanceOfType (p.Second))), arguments,
            fields.Select (f => type.GetField (f.name)).ToArray (), fields.Select (f => f.value).ToArray ());

    static void Show (string what, ICustomAttributeProvider provider)
    {
        var list = provider.GetCustomAttributes (false).Select (a => a.GetType ().Name).OrderBy (n => n, StringComparer.Ordinal);
        Console.WriteLine ($"{what}: {string.Join (" ", list)}");
    }

    static void ShowData (string what, System.Collections.Generic.IList<CustomAttributeData> data) =>
        Console.WriteLine ($"{what}: {string.Join (" ", data.Select (d => d.ToString ()).OrderBy (d => d, StringComparer.Ordinal))}");

    public static void Main ()
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("A"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule ("A");
        var type = module.DefineType ("T", TypeAttributes.Public);
        type.SetCustomAttribute (Of (typeof (SerializableAttribute)));
        type.SetCustomAttribute (Of (typeof (ObsoleteAttribute), "old"));
        type.SetCustomAttribute (Of (typeof (SpecialNameAttribute)));
        type.SetCustomAttribute (Of (typeof (StructLayoutAttribute), new object [] { LayoutKind.Sequential }, ("Pack", 2), ("Size", 64), ("CharSet", CharSet.Unicode)));
        type.SetCustomAttribute (Of (typeof (GuidAttribute), "01234567-89ab-cdef-0123-456789abcdef"));
        var field = type.DefineField ("F", typeof (string), FieldAttributes.Public);
        field.SetCustomAttribute (Of (typeof (NonSerializedAttribute)));
        field.SetCustomAttribute (Of (typeof (MarshalAsAttribute), new object [] { UnmanagedType.ByValTStr }, ("SizeConst", 8)));
        field.SetCustomAttribute (Of (typeof (SpecialNameAttribute)));
        var statics = type.DefineField ("S", typeof (int), FieldAttributes.Public | FieldAttributes.Static);
        statics.SetCustomAttribute (Of (typeof (ThreadStaticAttribute)));
        var method = type.DefineMethod ("M", MethodAttributes.Public | MethodAttributes.Static, typeof (int), new [] { typeof (int).MakeByRefType (), typeof (string), typeof (string) });
        method.SetCustomAttribute (Of (typeof (MethodImplAttribute), MethodImplOptions.NoInlining));
        method.SetCustomAttribute (Of (typeof (SpecialNameAttribute)));
        var p1 = method.DefineParameter (1, ParameterAttributes.None, "a");
        p1.SetCustomAttribute (Of (typeof (OutAttribute)));
        p1.SetCustomAttribute (Of (typeof (InAttribute)));
        var p2 = method.DefineParameter (2, ParameterAttributes.None, "b");
        p2.SetCustomAttribute (Of (typeof (OptionalAttribute)));
        p2.SetCustomAttribute (Of (typeof (MarshalAsAttribute), UnmanagedType.LPWStr));
        var p3 = method.DefineParameter (3, ParameterAttributes.None, "c");
        p3.SetCustomAttribute (Of (typeof (DefaultParameterValueAttribute), "dflt"));
        var il = method.GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4_3);
        il.Emit (OpCodes.Ret);
        var imported = type.DefineMethod ("getpid", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl, typeof (int), Type.EmptyTypes);
        imported.SetCustomAttribute (Of (typeof (DllImportAttribute), new object [] { "libc" }, ("CallingConvention", CallingConvention.Cdecl), ("SetLastError", true)));
        imported.SetCustomAttribute (Of (typeof (PreserveSigAttribute)));
        var created = type.CreateType ();
        Console.WriteLine (created.Attributes);
        var layout = created.StructLayoutAttribute;
        Console.WriteLine ($"{layout.Value} {layout.Pack} {layout.Size} {layout.CharSet}");
        Console.WriteLine (created.GUID);
        Show ("type", created);
        ShowData ("type", created.GetCustomAttributesData ());
        var f = created.GetField ("F");
        Console.WriteLine (f.Attributes);
        Show ("field", f);
        ShowData ("field", f.GetCustomAttributesData ());
        Show ("static", created.GetField ("S"));
        var m = created.GetMethod ("M");
        Console.WriteLine ($"{m.Attributes} {m.GetMethodImplementationFlags ()}");
        Show ("method", m);
        foreach (var p in m.GetParameters ()) {
            Console.WriteLine ($"{p.Name} {p.Attributes} {p.HasDefaultValue} {p.DefaultValue}");
            Show (p.Name, p);
        }
        var i = created.GetMethod ("getpid");
        Console.WriteLine ($"{i.Attributes} {i.GetMethodImplementationFlags ()}");
        Show ("import", i);
        try { Console.WriteLine ((int) i.Invoke (null, null) == Environment.ProcessId); } catch (Exception e) { Console.WriteLine (e.GetType ()); }
        created.GetField ("S").SetValue (null, 4);
        var thread = new System.Threading.Thread (() => Console.WriteLine (created.GetField ("S").GetValue (null)));
        thread.Start ();
        thread.Join ();
        Console.WriteLine (created.GetField ("S").GetValue (null));
    }
}
