// Types of many shapes made at run time: static abstract members, modifiers, by-reference-like structs, inline arrays, classes and
// structs that refer to each other, many types in a module.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading.Tasks;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

public interface IAsync {
    Task<int> Get (int n);
    ValueTask Do ();
}

public class AsyncProxy : DispatchProxy {
    protected override object Invoke (MethodInfo m, object [] a) => m.Name == "Get" ? Task.FromResult ((int) a [0] * 2) : (object) default (ValueTask);
}

public static class Program {
    const MethodAttributes PublicStatic = MethodAttributes.Public | MethodAttributes.Static;
    static ModuleBuilder NewModule (string n) => AssemblyBuilder.DefineDynamicAssembly (new AssemblyName (n), AssemblyBuilderAccess.Run).DefineDynamicModule (n);
    static void Try (string what, Action a) {
        try {
            a ();
            Console.WriteLine (what + " ok");
        } catch (Exception e) {
            Console.WriteLine (what + ": " + (e.InnerException ?? e));
        }
    }
    public static async Task Main () {
        var p = DispatchProxy.Create<IAsync, AsyncProxy> ();
        Console.WriteLine (await p.Get (21));
        await p.Do ();
        Try ("static abstract", () => {
            var m = NewModule ("SA");
            var i = m.DefineType ("IStat", TypeAttributes.Public | TypeAttributes.Interface | TypeAttributes.Abstract);
            var tp = i.DefineGenericParameters ("TSelf") [0];
            tp.SetInterfaceConstraints (i.MakeGenericType (tp));
            var sm = i.DefineMethod ("Make", PublicStatic | MethodAttributes.Abstract | MethodAttributes.Virtual, tp, Type.EmptyTypes);
            var it = i.CreateType ();
            var c = m.DefineType ("Impl", TypeAttributes.Public);
            c.AddInterfaceImplementation (it.MakeGenericType (c));
            var ctor = c.DefineDefaultConstructor (MethodAttributes.Public);
            var mk = c.DefineMethod ("Make", PublicStatic, c, Type.EmptyTypes);
            var il = mk.GetILGenerator ();
            il.Emit (OpCodes.Newobj, ctor);
            il.Emit (OpCodes.Ret);
            c.DefineMethodOverride (mk, TypeBuilder.GetMethod (it.MakeGenericType (c), it.GetMethod ("Make")));
            var ct = c.CreateType ();
            var u = m.DefineType ("Use");
            var g = u.DefineMethod ("G", PublicStatic);
            var gp = g.DefineGenericParameters ("T") [0];
            gp.SetInterfaceConstraints (it.MakeGenericType (gp));
            g.SetReturnType (gp);
            g.SetParameters ();
            il = g.GetILGenerator ();
            il.Emit (OpCodes.Constrained, gp);
            il.Emit (OpCodes.Call, TypeBuilder.GetMethod (it.MakeGenericType (gp), it.GetMethod ("Make")));
            il.Emit (OpCodes.Ret);
            Console.WriteLine (u.CreateType ().GetMethod ("G").MakeGenericMethod (ct).Invoke (null, null));
        });
        Try ("modifiers", () => {
            var m = NewModule ("Mods");
            var t = m.DefineType ("T", TypeAttributes.Public);
            var f = t.DefineField ("f", typeof (int), new [] { typeof (IsVolatile) }, null, FieldAttributes.Public);
            var mb = t.DefineMethod ("x", PublicStatic, CallingConventions.Standard, typeof (int), new [] { typeof (IsConst) }, null, new [] { typeof (int).MakeByRefType () }, new [] { new [] { typeof (InAttribute) } }, null);
            var il = mb.GetILGenerator ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Ldind_I4);
            il.Emit (OpCodes.Ret);
            var c = t.CreateType ();
            Console.WriteLine (string.Join (",", c.GetField ("f").GetRequiredCustomModifiers ().Select (x => x.Name)) + string.Join (",", c.GetMethod ("x").GetParameters () [0].GetRequiredCustomModifiers ().Select (x => x.Name)) + c.GetMethod ("x").ReturnParameter.GetRequiredCustomModifiers ().Length);
            Console.WriteLine (c.GetMethod ("x").Invoke (null, new object [] { 4 }));
        });
        Try ("vararg", () => {
            var m = NewModule ("VA");
            var t = m.DefineType ("T");
            var mb = t.DefineMethod ("v", PublicStatic, CallingConventions.VarArgs, typeof (int), new [] { typeof (int) });
            var il = mb.GetILGenerator ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Ret);
            t.CreateType ();
        });
        Try ("span", () => {
            var m = NewModule ("RS");
            var t = m.DefineType ("R", TypeAttributes.Public | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof (ValueType));
            t.SetCustomAttribute (new CustomAttributeBuilder (typeof (IsByRefLikeAttribute).GetConstructor (Type.EmptyTypes), new object [0]));
            t.DefineField ("s", typeof (Span<int>), FieldAttributes.Public);
            Console.WriteLine (t.CreateType ().IsByRefLike);
        });
        Try ("inline array", () => {
            var m = NewModule ("IA");
            var t = m.DefineType ("B", TypeAttributes.Public | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof (ValueType));
            t.SetCustomAttribute (new CustomAttributeBuilder (typeof (InlineArrayAttribute).GetConstructors () [0], new object [] { 5 }));
            t.DefineField ("e", typeof (long), FieldAttributes.Private);
            var c = t.CreateType ();
            Console.WriteLine (typeof (Unsafe).GetMethod ("SizeOf").MakeGenericMethod (c).Invoke (null, null));
        });
        Try ("generic derived", () => {
            var m = NewModule ("GD");
            var b = m.DefineType ("Base", TypeAttributes.Public);
            var bp = b.DefineGenericParameters ("T");
            var v = b.DefineMethod ("V", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.NewSlot, typeof (string), new Type [] { bp [0] });
            var il = v.GetILGenerator ();
            il.Emit (OpCodes.Ldstr, "base");
            il.Emit (OpCodes.Ret);
            b.DefineDefaultConstructor (MethodAttributes.Public);
            var d = m.DefineType ("Der", TypeAttributes.Public, b.MakeGenericType (typeof (int)));
            var bt = b.CreateType ();
            var dc = d.DefineConstructor (MethodAttributes.Public, CallingConventions.Standard, Type.EmptyTypes);
            il = dc.GetILGenerator ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Call, bt.MakeGenericType (typeof (int)).GetConstructor (Type.EmptyTypes));
            il.Emit (OpCodes.Ret);
            var o = d.DefineMethod ("V", MethodAttributes.Public | MethodAttributes.Virtual, typeof (string), new [] { typeof (int) });
            il = o.GetILGenerator ();
            il.Emit (OpCodes.Ldstr, "derived");
            il.Emit (OpCodes.Ret);
            var dt = d.CreateType ();
            Console.WriteLine (bt.MakeGenericType (typeof (int)).GetMethod ("V").Invoke (Activator.CreateInstance (dt), new object [] { 1 }));
        });
        Try ("recursive struct ref", () => {
            var m = NewModule ("Rec");
            var n = m.DefineType ("Node", TypeAttributes.Public);
            n.DefineField ("next", n, FieldAttributes.Public);
            n.DefineField ("all", n.MakeArrayType (), FieldAttributes.Public | FieldAttributes.Static);
            n.DefineField ("list", typeof (List<>).MakeGenericType (n), FieldAttributes.Public);
            var c = n.CreateType ();
            Console.WriteLine (c.GetField ("list").FieldType + " " + c.GetField ("all").FieldType + " " + Activator.CreateInstance (c));
        });
        Try ("mutual struct", () => {
            var m = NewModule ("Mut");
            var a = m.DefineType ("A", TypeAttributes.Public);
            var s = m.DefineType ("S", TypeAttributes.Public | TypeAttributes.Sealed, typeof (ValueType));
            s.DefineField ("a", a, FieldAttributes.Public);
            a.DefineField ("s", s, FieldAttributes.Public);
            ResolveEventHandler h = (x, e) => {
                Console.WriteLine ("resolve " + e.Name);
                s.CreateType ();
                return m.Assembly;
            };
            AppDomain.CurrentDomain.TypeResolve += h;
            var c = a.CreateType ();
            AppDomain.CurrentDomain.TypeResolve -= h;
            Console.WriteLine (Activator.CreateInstance (c) + " " + c.GetField ("s").FieldType);
        });
        Try ("switch and try", () => {
            var m = NewModule ("Sw");
            var t = m.DefineType ("T");
            var mb = t.DefineMethod ("m", PublicStatic, typeof (string), new [] { typeof (int) });
            var il = mb.GetILGenerator ();
            var ls = Enumerable.Range (0, 3).Select (_ => il.DefineLabel ()).ToArray ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Switch, ls);
            il.Emit (OpCodes.Ldstr, "other");
            il.Emit (OpCodes.Ret);
            for (int k = 0; k < 3; k++) {
                il.MarkLabel (ls [k]);
                il.Emit (OpCodes.Ldstr, "case" + k);
                il.Emit (OpCodes.Ret);
            }
            var c = t.CreateType ();
            Console.WriteLine (string.Join (",", Enumerable.Range (0, 4).Select (x => c.GetMethod ("m").Invoke (null, new object [] { x }))));
        });
        Try ("big", () => {
            var m = NewModule ("Big");
            for (int i = 0; i < 300; i++) {
                var t = m.DefineType ("T" + i, TypeAttributes.Public);
                for (int j = 0; j < 10; j++) {
                    var mb = t.DefineMethod ("M" + j, PublicStatic, typeof (int), null);
                    var il = mb.GetILGenerator ();
                    il.Emit (OpCodes.Ldc_I4, i * j);
                    il.Emit (OpCodes.Ret);
                }
                t.CreateType ();
            }
            Console.WriteLine (m.GetTypes ().Sum (t => (int) t.GetMethod ("M9").Invoke (null, null)));
        });
        Try ("method impl of generic interface", () => {
            var m = NewModule ("GI");
            var t = m.DefineType ("C", TypeAttributes.Public, typeof (object), new [] { typeof (IEqualityComparer<string>) });
            foreach (var im in typeof (IEqualityComparer<string>).GetMethods ()) {
                var mb = t.DefineMethod ("impl." + im.Name, MethodAttributes.Private | MethodAttributes.Virtual | MethodAttributes.Final | MethodAttributes.NewSlot, im.ReturnType, im.GetParameters ().Select (q => q.ParameterType).ToArray ());
                var il = mb.GetILGenerator ();
                il.Emit (OpCodes.Ldc_I4_1);
                il.Emit (OpCodes.Ret);
                t.DefineMethodOverride (mb, im);
            }
            var o = (IEqualityComparer<string>) Activator.CreateInstance (t.CreateType ());
            Console.WriteLine (o.Equals ("a", "b") + " " + o.GetHashCode ("x"));
        });
    }
}
