// Assemblies made at run time with AssemblyBuilder: all kinds of types and members, used and read back by reflection.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public interface IGreeter
{
    string Greet (string name);
    int Number { get; }
}

[AttributeUsage (AttributeTargets.All, AllowMultiple = true)]
public class NoteAttribute : Attribute
{
    public NoteAttribute (string text) { Text = text; }
    public string Text { get; }
    public int Level { get; set; }
    public Type Kind;
    public override string ToString () => $"Note({Text}, {Level}, {Kind?.Name})";
}

public abstract class Shape
{
    public abstract double Area ();
    public virtual string Describe () => $"{GetType ().Name} of {Area ()}";
}

public static class Program
{
    const MethodAttributes PublicStatic = MethodAttributes.Public | MethodAttributes.Static;
    const MethodAttributes Override = MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.HideBySig;

    static ModuleBuilder NewModule (string name)
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName (name), AssemblyBuilderAccess.Run);
        return assembly.DefineDynamicModule (name);
    }

    static CustomAttributeBuilder Note (string text, int level, Type kind) =>
        new CustomAttributeBuilder (typeof (NoteAttribute).GetConstructor (new [] { typeof (string) }), new object [] { text },
            new [] { typeof (NoteAttribute).GetProperty ("Level") }, new object [] { level },
            new [] { typeof (NoteAttribute).GetField ("Kind") }, new object [] { kind });

    static void Simple ()
    {
        var module = NewModule ("Simple");
        var type = module.DefineType ("N.Adder", TypeAttributes.Public);
        var method = type.DefineMethod ("Add", PublicStatic, typeof (int), new [] { typeof (int), typeof (int) });
        method.DefineParameter (1, ParameterAttributes.None, "left");
        method.DefineParameter (2, ParameterAttributes.Optional | ParameterAttributes.HasDefault, "right").SetConstant (5);
        var il = method.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Add);
        il.Emit (OpCodes.Ret);
        Console.WriteLine (type.IsCreated ());
        var created = type.CreateType ();
        Console.WriteLine ($"{type.IsCreated ()} {created} {created.FullName} {created.Namespace} {created.BaseType} {created.IsClass}");
        Console.WriteLine (created.GetMethod ("Add").Invoke (null, new object [] { 3, 4 }));
        var add = (Func<int, int, int>) created.GetMethod ("Add").CreateDelegate (typeof (Func<int, int, int>));
        Console.WriteLine (add (20, 22));
        foreach (var parameter in created.GetMethod ("Add").GetParameters ())
            Console.WriteLine ($"{parameter.Position} {parameter.ParameterType} {parameter.Name} {parameter.Attributes} {parameter.RawDefaultValue}");
        Console.WriteLine (Activator.CreateInstance (created).GetType () == created);
        Console.WriteLine (created.MetadataToken == type.MetadataToken);
        Console.WriteLine (created.GetMethod ("Add").MetadataToken == method.MetadataToken);
        Console.WriteLine (module.ResolveType (type.MetadataToken) == created);
        Console.WriteLine (module.ResolveMethod (method.MetadataToken) == created.GetMethod ("Add"));
        Console.WriteLine (ReferenceEquals (module.Assembly.GetType ("N.Adder"), created));
        Console.WriteLine (module.Assembly.GetType ("n.ADDER", false, true) == created);
        Console.WriteLine (created.Module.Name + " " + created.Module.ScopeName + " " + created.Assembly.FullName);
        Console.WriteLine (created.Assembly.IsDynamic + " " + created.Assembly.GetTypes ().Length);
        Console.WriteLine (module.Equals (created.Module));
    }

    static void Inheritance ()
    {
        var module = NewModule ("Inheritance");
        var type = module.DefineType ("Square", TypeAttributes.Public | TypeAttributes.Sealed, typeof (Shape), new [] { typeof (IGreeter) });
        var side = type.DefineField ("side", typeof (double), FieldAttributes.Private);
        var constructor = type.DefineConstructor (MethodAttributes.Public, CallingConventions.Standard, new [] { typeof (double) });
        var il = constructor.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Call, typeof (Shape).GetConstructor (BindingFlags.Instance | BindingFlags.NonPublic, null, Type.EmptyTypes, null));
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Stfld, side);
        il.Emit (OpCodes.Ret);
        il = type.DefineMethod ("Area", Override, typeof (double), Type.EmptyTypes).GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, side);
        il.Emit (OpCodes.Dup);
        il.Emit (OpCodes.Mul);
        il.Emit (OpCodes.Ret);
        var greet = type.DefineMethod ("Hello", MethodAttributes.Private | MethodAttributes.Virtual | MethodAttributes.NewSlot | MethodAttributes.Final, typeof (string), new [] { typeof (string) });
        il = greet.GetILGenerator ();
        il.Emit (OpCodes.Ldstr, "hello, ");
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Call, typeof (string).GetMethod ("Concat", new [] { typeof (string), typeof (string) }));
        il.Emit (OpCodes.Ret);
        type.DefineMethodOverride (greet, typeof (IGreeter).GetMethod ("Greet"));
        var getter = type.DefineMethod ("get_Number", Override | MethodAttributes.SpecialName | MethodAttributes.NewSlot, typeof (int), Type.EmptyTypes);
        il = getter.GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4, 42);
        il.Emit (OpCodes.Ret);
        var number = type.DefineProperty ("Number", PropertyAttributes.None, typeof (int), null);
        number.SetGetMethod (getter);
        var created = type.CreateType ();
        var shape = (Shape) Activator.CreateInstance (created, 3.0);
        Console.WriteLine (shape.Describe ());
        Console.WriteLine (((IGreeter) shape).Greet ("you") + " " + ((IGreeter) shape).Number);
        Console.WriteLine (created.GetProperty ("Number").GetValue (shape));
        var map = created.GetInterfaceMap (typeof (IGreeter));
        Console.WriteLine (string.Join (", ", map.TargetMethods.Select (m => m.Name)));
        Console.WriteLine (string.Join (", ", created.GetInterfaces ().Select (i => i.Name)));
        foreach (var member in created.GetMembers (BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.DeclaredOnly))
            Console.WriteLine ($"{member.MemberType} {member}");
    }

    static void EnumsAndStructs ()
    {
        var module = NewModule ("Enums");
        var color = module.DefineEnum ("Color", TypeAttributes.Public, typeof (byte));
        color.DefineLiteral ("Red", (byte) 1);
        color.DefineLiteral ("Green", (byte) 2);
        color.SetCustomAttribute (new CustomAttributeBuilder (typeof (FlagsAttribute).GetConstructor (Type.EmptyTypes), new object [0]));
        var created = color.CreateType ();
        Console.WriteLine ($"{created.IsEnum} {Enum.GetUnderlyingType (created)} {string.Join (",", Enum.GetNames (created))} {Enum.ToObject (created, 3)}");
        var point = module.DefineType ("Point", TypeAttributes.Public | TypeAttributes.SequentialLayout | TypeAttributes.Sealed, typeof (ValueType));
        var x = point.DefineField ("X", typeof (int), FieldAttributes.Public);
        var y = point.DefineField ("Y", typeof (long), FieldAttributes.Public);
        point.DefineField ("C", created, FieldAttributes.Public);
        var sum = point.DefineMethod ("Sum", MethodAttributes.Public, typeof (long), Type.EmptyTypes);
        var il = sum.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, x);
        il.Emit (OpCodes.Conv_I8);
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, y);
        il.Emit (OpCodes.Add);
        il.Emit (OpCodes.Ret);
        var type = point.CreateType ();
        var value = Activator.CreateInstance (type);
        type.GetField ("X").SetValue (value, 30);
        type.GetField ("Y").SetValue (value, 12L);
        Console.WriteLine ($"{type.IsValueType} {type.GetMethod ("Sum").Invoke (value, null)} {Marshal.SizeOf (type)}");
        var union = module.DefineType ("Union", TypeAttributes.Public | TypeAttributes.ExplicitLayout | TypeAttributes.Sealed, typeof (ValueType), PackingSize.Size4, 16);
        union.DefineField ("I", typeof (int), FieldAttributes.Public).SetOffset (0);
        union.DefineField ("F", typeof (float), FieldAttributes.Public).SetOffset (0);
        var unionType = union.CreateType ();
        var bits = Activator.CreateInstance (unionType);
        unionType.GetField ("F").SetValue (bits, 1f);
        Console.WriteLine ($"{unionType.GetField ("I").GetValue (bits):x} {Marshal.SizeOf (unionType)} {unionType.StructLayoutAttribute.Pack}");
    }

    static void Generics ()
    {
        var module = NewModule ("Generics");
        var box = module.DefineType ("Box", TypeAttributes.Public);
        var t = box.DefineGenericParameters ("T") [0];
        var field = box.DefineField ("Value", t, FieldAttributes.Public);
        var constructor = box.DefineConstructor (MethodAttributes.Public, CallingConventions.Standard, new Type [] { t });
        var il = constructor.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Call, typeof (object).GetConstructor (Type.EmptyTypes));
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Stfld, field);
        il.Emit (OpCodes.Ret);
        var map = box.DefineMethod ("Map", MethodAttributes.Public);
        var r = map.DefineGenericParameters ("R") [0];
        var func = typeof (Func<,>).MakeGenericType (t, r);
        map.SetReturnType (box.MakeGenericType (r));
        map.SetParameters (func);
        il = map.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_1);
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, field);
        il.Emit (OpCodes.Callvirt, TypeBuilder.GetMethod (func, typeof (Func<,>).GetMethod ("Invoke")));
        il.Emit (OpCodes.Newobj, TypeBuilder.GetConstructor (box.MakeGenericType (r), constructor));
        il.Emit (OpCodes.Ret);
        var limited = module.DefineType ("Limited", TypeAttributes.Public);
        var u = limited.DefineGenericParameters ("U") [0];
        u.SetGenericParameterAttributes (GenericParameterAttributes.DefaultConstructorConstraint);
        u.SetInterfaceConstraints (typeof (IComparable<>).MakeGenericType (u));
        var make = limited.DefineMethod ("Make", PublicStatic, u, Type.EmptyTypes);
        il = make.GetILGenerator ();
        il.Emit (OpCodes.Call, typeof (Activator).GetMethods ().First (m => m.Name == "CreateInstance" && m.IsGenericMethod).MakeGenericMethod (u));
        il.Emit (OpCodes.Ret);
        var identity = limited.DefineMethod ("Identity", PublicStatic);
        var v = identity.DefineGenericParameters ("V") [0];
        identity.SetReturnType (v);
        identity.SetParameters (v);
        il = identity.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ret);
        var twice = limited.DefineMethod ("Twice", PublicStatic, typeof (string), Type.EmptyTypes);
        il = twice.GetILGenerator ();
        il.Emit (OpCodes.Ldstr, "id");
        il.Emit (OpCodes.Call, TypeBuilder.GetMethod (limited.MakeGenericType (u), identity).MakeGenericMethod (typeof (string)));
        il.Emit (OpCodes.Ret);
        var created = box.CreateType ();
        var limitedType = limited.CreateType ();
        var intBox = Activator.CreateInstance (created.MakeGenericType (typeof (int)), 20);
        var mapped = intBox.GetType ().GetMethod ("Map").MakeGenericMethod (typeof (string)).Invoke (intBox, new object [] { (Func<int, string>) (n => "n" + n) });
        Console.WriteLine ($"{mapped.GetType ()} {mapped.GetType ().GetField ("Value").GetValue (mapped)}");
        Console.WriteLine (limitedType.MakeGenericType (typeof (int)).GetMethod ("Make").Invoke (null, null));
        Console.WriteLine (limitedType.MakeGenericType (typeof (int)).GetMethod ("Twice").Invoke (null, null));
        var parameter = limitedType.GetGenericArguments () [0];
        Console.WriteLine ($"{parameter} {parameter.GenericParameterAttributes} {string.Join (",", parameter.GetGenericParameterConstraints ().Select (c => c.ToString ()))}");
        try {
            limitedType.MakeGenericType (typeof (Uri));
        } catch (ArgumentException e) {
            Console.WriteLine (e.GetType ().Name);
        }
    }

    static void Delegates ()
    {
        var module = NewModule ("Delegates");
        var type = module.DefineType ("Combine", TypeAttributes.Public | TypeAttributes.Sealed, typeof (MulticastDelegate));
        type.DefineConstructor (MethodAttributes.RTSpecialName | MethodAttributes.HideBySig | MethodAttributes.Public, CallingConventions.Standard,
            new [] { typeof (object), typeof (IntPtr) }).SetImplementationFlags (MethodImplAttributes.Runtime | MethodImplAttributes.Managed);
        type.DefineMethod ("Invoke", MethodAttributes.Public | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.Virtual,
            typeof (string), new [] { typeof (int).MakeByRefType (), typeof (string) }).SetImplementationFlags (MethodImplAttributes.Runtime | MethodImplAttributes.Managed);
        var created = type.CreateType ();
        var made = Delegate.CreateDelegate (created, typeof (Program).GetMethod (nameof (Join), BindingFlags.NonPublic | BindingFlags.Static));
        var arguments = new object [] { 4, "x" };
        Console.WriteLine ($"{made.DynamicInvoke (arguments)} {arguments [0]}");
    }

    static string Join (ref int number, string text) => text + number++;

    static void MembersAndAttributes ()
    {
        var module = NewModule ("Members");
        ((AssemblyBuilder) module.Assembly).SetCustomAttribute (Note ("assembly", 1, null));
        module.SetCustomAttribute (Note ("module", 2, typeof (int)));
        var type = module.DefineType ("Holder", TypeAttributes.Public);
        type.SetCustomAttribute (Note ("type", 3, typeof (List<string>)));
        var field = type.DefineField ("Handlers", typeof (EventHandler), FieldAttributes.Private);
        field.SetCustomAttribute (Note ("field", 4, null));
        var count = type.DefineField ("Count", typeof (int), FieldAttributes.Public | FieldAttributes.Static);
        var literal = type.DefineField ("Limit", typeof (long), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal);
        literal.SetConstant (123456789012L);
        type.DefineField ("Name", typeof (string), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal).SetConstant ("name");
        type.DefineField ("None", typeof (string), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal).SetConstant (null);
        var il = type.DefineTypeInitializer ().GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4, 7);
        il.Emit (OpCodes.Stsfld, count);
        il.Emit (OpCodes.Ret);
        var changed = type.DefineEvent ("Changed", EventAttributes.None, typeof (EventHandler));
        changed.SetCustomAttribute (Note ("event", 5, null));
        foreach (var (name, helper) in new [] { ("add_Changed", "Combine"), ("remove_Changed", "Remove") }) {
            var accessor = type.DefineMethod (name, MethodAttributes.Public | MethodAttributes.SpecialName, typeof (void), new [] { typeof (EventHandler) });
            il = accessor.GetILGenerator ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Ldfld, field);
            il.Emit (OpCodes.Ldarg_1);
            il.Emit (OpCodes.Call, typeof (Delegate).GetMethod (helper, new [] { typeof (Delegate), typeof (Delegate) }));
            il.Emit (OpCodes.Castclass, typeof (EventHandler));
            il.Emit (OpCodes.Stfld, field);
            il.Emit (OpCodes.Ret);
            if (helper == "Combine")
                changed.SetAddOnMethod (accessor);
            else
                changed.SetRemoveOnMethod (accessor);
        }
        var raise = type.DefineMethod ("Raise", MethodAttributes.Public, typeof (void), Type.EmptyTypes);
        raise.SetCustomAttribute (Note ("method", 6, null));
        raise.DefineParameter (0, ParameterAttributes.None, null).SetCustomAttribute (Note ("return", 7, null));
        il = raise.GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, field);
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldsfld, typeof (EventArgs).GetField ("Empty"));
        il.Emit (OpCodes.Callvirt, typeof (EventHandler).GetMethod ("Invoke"));
        il.Emit (OpCodes.Ret);
        var item = type.DefineProperty ("Item", PropertyAttributes.HasDefault, typeof (string), new [] { typeof (int) });
        item.SetCustomAttribute (Note ("property", 8, null));
        var getter = type.DefineMethod ("get_Item", MethodAttributes.Public | MethodAttributes.SpecialName, typeof (string), new [] { typeof (int) });
        var index = getter.DefineParameter (1, ParameterAttributes.None, "index");
        index.SetCustomAttribute (Note ("parameter", 9, null));
        il = getter.GetILGenerator ();
        il.Emit (OpCodes.Ldarga_S, (byte) 1);
        il.Emit (OpCodes.Call, typeof (int).GetMethod ("ToString", Type.EmptyTypes));
        il.Emit (OpCodes.Ret);
        item.SetGetMethod (getter);
        var created = type.CreateType ();
        var value = Activator.CreateInstance (created);
        created.GetEvent ("Changed").AddEventHandler (value, new EventHandler ((s, e) => Console.WriteLine ("raised by " + s.GetType ().Name)));
        created.GetMethod ("Raise").Invoke (value, null);
        Console.WriteLine ($"{created.GetField ("Count").GetValue (null)} {created.GetField ("Limit").GetRawConstantValue ()} {created.GetField ("Name").GetValue (null)} {created.GetField ("None").GetRawConstantValue () ?? "null"}");
        Console.WriteLine (created.GetProperty ("Item").GetValue (value, new object [] { 77 }));
        void Show (string of, IEnumerable<object> attributes) => Console.WriteLine ($"{of}: {string.Join (" ", attributes)}");
        Show ("assembly", created.Assembly.GetCustomAttributes (typeof (NoteAttribute), false));
        Show ("module", created.Module.GetCustomAttributes (typeof (NoteAttribute), false));
        Show ("type", created.GetCustomAttributes (false));
        Show ("field", created.GetField ("Handlers", BindingFlags.NonPublic | BindingFlags.Instance).GetCustomAttributes (false));
        Show ("event", created.GetEvent ("Changed").GetCustomAttributes (false));
        Show ("method", created.GetMethod ("Raise").GetCustomAttributes (false));
        Show ("return", created.GetMethod ("Raise").ReturnParameter.GetCustomAttributes (false));
        Show ("property", created.GetProperty ("Item").GetCustomAttributes (false));
        Show ("parameter", created.GetMethod ("get_Item").GetParameters () [0].GetCustomAttributes (false));
        foreach (var data in created.GetCustomAttributesData ())
            Console.WriteLine (data);
    }

    static void Nested ()
    {
        var module = NewModule ("Nested");
        var outer = module.DefineType ("Space.Outer", TypeAttributes.Public);
        var inner = outer.DefineNestedType ("Inner", TypeAttributes.NestedPublic);
        var secret = outer.DefineField ("secret", typeof (int), FieldAttributes.Private | FieldAttributes.Static);
        var il = inner.DefineMethod ("Read", PublicStatic, typeof (int), Type.EmptyTypes).GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4_S, (byte) 99);
        il.Emit (OpCodes.Stsfld, secret);
        il.Emit (OpCodes.Ldsfld, secret);
        il.Emit (OpCodes.Ret);
        var back = inner.DefineMethod ("Back", MethodAttributes.Public, outer, Type.EmptyTypes);
        il = back.GetILGenerator ();
        il.Emit (OpCodes.Ldnull);
        il.Emit (OpCodes.Ret);
        var outerType = outer.CreateType ();
        var innerType = inner.CreateType ();
        Console.WriteLine ($"{innerType.FullName} {innerType.DeclaringType == outerType} {innerType.IsNestedPublic}");
        Console.WriteLine (innerType.GetMethod ("Read").Invoke (null, null));
        Console.WriteLine (string.Join (",", outerType.GetNestedTypes ().Select (n => n.Name)));
        Console.WriteLine (module.GetType ("Space.Outer+Inner") == innerType);
        Console.WriteLine (string.Join (",", module.Assembly.GetTypes ().Select (n => n.FullName)));
        Console.WriteLine (innerType.GetMethod ("Back").ReturnType == outerType);
    }

    static void MutualReferences ()
    {
        var module = NewModule ("Mutual");
        var even = module.DefineType ("Even", TypeAttributes.Public);
        var odd = module.DefineType ("Odd", TypeAttributes.Public);
        var isEven = even.DefineMethod ("Is", PublicStatic, typeof (bool), new [] { typeof (int) });
        var isOdd = odd.DefineMethod ("Is", PublicStatic, typeof (bool), new [] { typeof (int) });
        foreach (var (method, other, atZero) in new [] { (isEven, isOdd, OpCodes.Ldc_I4_1), (isOdd, isEven, OpCodes.Ldc_I4_0) }) {
            var il = method.GetILGenerator ();
            var more = il.DefineLabel ();
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Brtrue, more);
            il.Emit (atZero);
            il.Emit (OpCodes.Ret);
            il.MarkLabel (more);
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Ldc_I4_1);
            il.Emit (OpCodes.Sub);
            il.Emit (OpCodes.Call, other);
            il.Emit (OpCodes.Ret);
        }
        var evenType = even.CreateType ();
        odd.CreateType ();
        Console.WriteLine ($"{evenType.GetMethod ("Is").Invoke (null, new object [] { 10 })} {evenType.GetMethod ("Is").Invoke (null, new object [] { 7 })}");
        var other2 = NewModule ("Other");
        var user = other2.DefineType ("User", TypeAttributes.Public, even);
        var il2 = user.DefineMethod ("Use", PublicStatic, typeof (bool), Type.EmptyTypes).GetILGenerator ();
        il2.Emit (OpCodes.Ldc_I4_5);
        il2.Emit (OpCodes.Call, isOdd);
        il2.Emit (OpCodes.Ret);
        Console.WriteLine (user.CreateType ().GetMethod ("Use").Invoke (null, null));
        Console.WriteLine (user.CreateType ().BaseType);
    }

    static void ExceptionHandlers ()
    {
        var module = NewModule ("Handlers");
        var type = module.DefineType ("Tries", TypeAttributes.Public);
        var log = type.DefineField ("Log", typeof (string), FieldAttributes.Public | FieldAttributes.Static);
        var method = type.DefineMethod ("Run", PublicStatic, typeof (string), new [] { typeof (string) });
        var il = method.GetILGenerator ();
        var result = il.DeclareLocal (typeof (string));
        il.BeginExceptionBlock ();
        il.BeginExceptionBlock ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Call, typeof (int).GetMethod ("Parse", new [] { typeof (string) }));
        il.Emit (OpCodes.Box, typeof (int));
        il.Emit (OpCodes.Callvirt, typeof (object).GetMethod ("ToString"));
        il.Emit (OpCodes.Stloc, result);
        il.BeginExceptFilterBlock ();
        il.Emit (OpCodes.Isinst, typeof (OverflowException));
        il.Emit (OpCodes.Ldnull);
        il.Emit (OpCodes.Cgt_Un);
        il.BeginCatchBlock (null);
        il.Emit (OpCodes.Pop);
        il.Emit (OpCodes.Ldstr, "overflow");
        il.Emit (OpCodes.Stloc, result);
        il.BeginCatchBlock (typeof (FormatException));
        il.Emit (OpCodes.Callvirt, typeof (object).GetMethod ("GetType"));
        il.Emit (OpCodes.Callvirt, typeof (MemberInfo).GetProperty ("Name").GetGetMethod ());
        il.Emit (OpCodes.Stloc, result);
        il.EndExceptionBlock ();
        il.BeginFinallyBlock ();
        il.Emit (OpCodes.Ldstr, "finally");
        il.Emit (OpCodes.Stsfld, log);
        il.EndExceptionBlock ();
        il.Emit (OpCodes.Ldloc, result);
        il.Emit (OpCodes.Ret);
        var created = type.CreateType ();
        foreach (var text in new [] { "12", "x", "99999999999" })
            Console.WriteLine ($"{created.GetMethod ("Run").Invoke (null, new object [] { text })} {created.GetField ("Log").GetValue (null)}");
    }

    static void GlobalsAndData ()
    {
        var module = NewModule ("Globals");
        var data = module.DefineInitializedData ("Bytes", new byte [] { 1, 2, 3, 250 }, FieldAttributes.Public);
        var global = module.DefineGlobalMethod ("Sum", PublicStatic, typeof (int), Type.EmptyTypes);
        var il = global.GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4_4);
        il.Emit (OpCodes.Newarr, typeof (byte));
        il.Emit (OpCodes.Dup);
        il.Emit (OpCodes.Ldtoken, data);
        il.Emit (OpCodes.Call, typeof (System.Runtime.CompilerServices.RuntimeHelpers).GetMethod ("InitializeArray"));
        il.Emit (OpCodes.Call, typeof (Program).GetMethod (nameof (Total)));
        il.Emit (OpCodes.Ret);
        var getpid = module.DefinePInvokeMethod ("getpid", "libc", MethodAttributes.Public | MethodAttributes.Static | MethodAttributes.PinvokeImpl,
            CallingConventions.Standard, typeof (int), Type.EmptyTypes, CallingConvention.Cdecl, CharSet.Ansi);
        getpid.SetImplementationFlags (MethodImplAttributes.PreserveSig);
        module.CreateGlobalFunctions ();
        Console.WriteLine (module.GetMethod ("Sum").Invoke (null, null));
        Console.WriteLine ((int) module.GetMethod ("getpid").Invoke (null, null) == Environment.ProcessId);
        Console.WriteLine (string.Join (",", module.GetMethods ().Select (m => m.Name)));
    }

    public static int Total (byte [] bytes) => bytes.Sum (b => b);

    static void Main ()
    {
        foreach (var part in new Action [] { Simple, Inheritance, EnumsAndStructs, Generics, Delegates, MembersAndAttributes, Nested, MutualReferences, ExceptionHandlers, GlobalsAndData }) {
            Console.WriteLine ($"-- {part.Method.Name}");
            try {
                part ();
            } catch (Exception e) {
                Console.WriteLine (e);
            }
        }
    }
}
