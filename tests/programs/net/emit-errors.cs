// What AssemblyBuilder refuses, and types that need others which are not created yet.
using System;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public interface IWork { void Work (); }
public abstract class Base { public abstract void Work (); }
public static class Program
{
    static ModuleBuilder NewModule (string name) =>
        AssemblyBuilder.DefineDynamicAssembly (new AssemblyName (name), AssemblyBuilderAccess.Run).DefineDynamicModule (name);

    static void Try (string what, Action action)
    {
        try {
            action ();
            Console.WriteLine ($"{what}: fine");
        } catch (Exception e) {
            Console.WriteLine ($"{what}: {e.GetType ().Name}: {(e is System.IO.FileNotFoundException ? "" : e.Message)}" + (e is ReflectionTypeLoadException r ? string.Join ("|", r.LoaderExceptions.Select (x => x.GetType().Name + x.Message)) : ""));
        }
    }

    const MethodAttributes PublicStatic = MethodAttributes.Public | MethodAttributes.Static;

    public static void Main ()
    {
        var module = NewModule ("A");
        Try ("interface not implemented", () => module.DefineType ("NoWork", TypeAttributes.Public, typeof (object), new [] { typeof (IWork) }).CreateType ());
        Try ("abstract not implemented", () => module.DefineType ("NoBase", TypeAttributes.Public, typeof (Base)).CreateType ());
        var failed = module.DefineType ("NoWork2", TypeAttributes.Public, typeof (object), new [] { typeof (IWork) });
        Try ("first", () => failed.CreateType ());
        Try ("second", () => Console.WriteLine (failed.CreateType ()?.ToString () ?? "null"));
        Try ("sealed base", () => module.DefineType ("OfString", TypeAttributes.Public, typeof (string)).CreateType ());
        Try ("same name", () => { module.DefineType ("Twice"); module.DefineType ("Twice"); });
        Try ("no body", () => { var t = module.DefineType ("NoBody"); t.DefineMethod ("M", PublicStatic); t.CreateType (); });
        Try ("after create", () => { var t = module.DefineType ("Done"); t.CreateType (); t.DefineMethod ("M", PublicStatic); });
        Try ("null name", () => module.DefineType (""));
        Try ("second module", () => { ((AssemblyBuilder) module.Assembly).DefineDynamicModule ("B"); });
        Try ("bad access", () => AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("X"), (AssemblyBuilderAccess) 2));
        Try ("base not created", () => { var b = module.DefineType ("B1"); var d = module.DefineType ("D1", TypeAttributes.Public, b); d.CreateType (); });
        Try ("interface not created", () => { var b = module.DefineType ("IB1", TypeAttributes.Interface | TypeAttributes.Abstract); var d = module.DefineType ("D2", TypeAttributes.Public, typeof (object), new [] { (Type) b }); d.CreateType (); });
        Try ("struct field not created", () => {
            var s = module.DefineType ("S1", TypeAttributes.Public | TypeAttributes.Sealed, typeof (ValueType)); s.DefineField ("x", typeof (int), FieldAttributes.Public);
            var d = module.DefineType ("D3"); d.DefineField ("s", s, FieldAttributes.Public); d.CreateType (); });
        Try ("class field not created", () => {
            var s = module.DefineType ("C1"); 
            var d = module.DefineType ("D4"); d.DefineField ("s", s, FieldAttributes.Public); Console.WriteLine (Activator.CreateInstance (d.CreateType ())); });
        Try ("nested before outer", () => { var o = module.DefineType ("O1"); var n = o.DefineNestedType ("N1", TypeAttributes.NestedPublic); Console.WriteLine (n.CreateType ()); Console.WriteLine (o.CreateType ()); });
        Try ("outer only", () => { var o = module.DefineType ("O2"); var n = o.DefineNestedType ("N2", TypeAttributes.NestedPublic); Console.WriteLine (o.CreateType ().GetNestedTypes ().Length); });
        Try ("get types", () => Console.WriteLine (string.Join (",", module.GetTypes ().Select (t => t.GetType ().Name + " " + t.Name))));
        Try ("assembly types", () => Console.WriteLine (string.Join (",", module.Assembly.GetTypes ().Select (t => t.GetType ().Name + " " + t.Name))));
        Try ("exported", () => Console.WriteLine (string.Join (",", module.Assembly.GetExportedTypes ().Select (t => t.GetType ().Name + " " + t.Name))));
        Try ("get type", () => Console.WriteLine (module.GetType ("O2+N2")));
        Try ("get type of assembly", () => Console.WriteLine (module.Assembly.GetType ("O2+N2") == null));
        Try ("call into not created", () => {
            var c = module.DefineType ("Callee", TypeAttributes.Public); var m = c.DefineMethod ("M", PublicStatic, typeof (int), Type.EmptyTypes);
            var i = m.GetILGenerator (); i.Emit (OpCodes.Ldc_I4_3); i.Emit (OpCodes.Ret);
            var d = module.DefineType ("Caller", TypeAttributes.Public); var n = d.DefineMethod ("M", PublicStatic, typeof (int), Type.EmptyTypes);
            i = n.GetILGenerator (); i.Emit (OpCodes.Call, m); i.Emit (OpCodes.Ret);
            var created = d.CreateType ();
            Try ("inner", () => created.GetMethod ("M").Invoke (null, null));
            c.CreateType ();
            Console.WriteLine (created.GetMethod ("M").Invoke (null, null));
        });
        // TypeResolve
        var module2 = NewModule ("R");
        var st = module2.DefineType ("Ns.St", TypeAttributes.Public | TypeAttributes.Sealed, typeof (ValueType));
        st.DefineField ("x", typeof (int), FieldAttributes.Public);
        var user = module2.DefineType ("User", TypeAttributes.Public);
        user.DefineField ("s", st, FieldAttributes.Public);
        ResolveEventHandler handler = (s, e) => { Console.WriteLine ($"resolve {e.Name} {e.RequestingAssembly?.GetName ().Name}"); st.CreateType (); return st.Assembly; };
        AppDomain.CurrentDomain.TypeResolve += handler;
        Try ("resolve", () => Console.WriteLine (user.CreateType ().GetField ("s").FieldType));
        AppDomain.CurrentDomain.TypeResolve -= handler;
        Try ("enum without value", () => { var e = module2.DefineType ("E1", TypeAttributes.Public | TypeAttributes.Sealed, typeof (Enum)); Console.WriteLine (e.CreateType ().IsEnum); });
        Try ("bad il", () => { var t = module2.DefineType ("Bad", TypeAttributes.Public); var m = t.DefineMethod ("M", PublicStatic, typeof (int), Type.EmptyTypes); m.GetILGenerator ().Emit (OpCodes.Add); t.CreateType ().GetMethod ("M").Invoke (null, null); });
        Try ("resolve token", () => Console.WriteLine (module2.ResolveType (0x02000077)));
        Try ("resolve method token", () => Console.WriteLine (module2.ResolveMethod (0x06000077)));
        Try ("resolve string", () => Console.WriteLine (module2.ResolveString (0x70000077)));
        Console.WriteLine (AppDomain.CurrentDomain.GetAssemblies ().Count (a => a.IsDynamic));
        var assembly = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("Named, Version=1.2.3.4"), AssemblyBuilderAccess.RunAndCollect);
        Console.WriteLine ($"{assembly.FullName} {assembly.GetName ().Version} {assembly.GetName ().CultureName} {assembly.IsDynamic} '{assembly.ManifestModule.FullyQualifiedName}'");
        Try ("location", () => Console.WriteLine ($"'{assembly.Location}'"));
        Try ("entry", () => Console.WriteLine (assembly.EntryPoint == null));
        Try ("image version", () => Console.WriteLine (assembly.ImageRuntimeVersion));
        Try ("resources", () => Console.WriteLine (assembly.GetManifestResourceNames ().Length));
        Try ("mvid", () => Console.WriteLine (assembly.ManifestModule.ModuleVersionId != Guid.Empty));
        Try ("code base", () => Console.WriteLine (Type.GetType ("Done, A")));
        Try ("load", () => Assembly.Load ("A").ToString ());
        Try ("referenced", () => Console.WriteLine (module.Assembly.GetReferencedAssemblies ().Length));
    }
}
