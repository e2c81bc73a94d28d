// Tokens of modules made at run time: what they resolve to, before and after types are created; references of all kinds
// in code, between modules, and attributes given late.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public class MarkAttribute : Attribute
{
    public MarkAttribute (int number) { Number = number; }
    public int Number { get; }
    public override string ToString () => "Mark " + Number;
}

public class Outer<T>
{
    public T Value;
    public class Inner<U> { public (T, U) Pair; public static string Name (T t, U u) => $"{typeof (T).Name} {typeof (U).Name} {t} {u}"; }
    public V Pick<V> (V value) => value;
}

public static class Program
{
    const MethodAttributes PublicStatic = MethodAttributes.Public | MethodAttributes.Static;

    static ModuleBuilder NewModule (string name) =>
        AssemblyBuilder.DefineDynamicAssembly (new AssemblyName (name), AssemblyBuilderAccess.Run).DefineDynamicModule (name);

    static CustomAttributeBuilder Mark (int number) => new CustomAttributeBuilder (typeof (MarkAttribute).GetConstructors () [0], new object [] { number });

    static void References ()
    {
        var module = NewModule ("References");
        var type = module.DefineType ("Uses", TypeAttributes.Public);
        var method = type.DefineMethod ("Run", PublicStatic, typeof (string), Type.EmptyTypes);
        var il = method.GetILGenerator ();
        // A member of an instantiation of a nested generic type.
        var inner = typeof (Outer<int>.Inner<string>);
        il.Emit (OpCodes.Ldc_I4_7);
        il.Emit (OpCodes.Ldstr, "x");
        il.Emit (OpCodes.Call, inner.GetMethod ("Name"));
        // A generic method of an instantiation.
        il.Emit (OpCodes.Newobj, typeof (Outer<Uri>).GetConstructor (Type.EmptyTypes));
        il.Emit (OpCodes.Ldstr, " picked ");
        il.Emit (OpCodes.Call, typeof (Outer<Uri>).GetMethod ("Pick").MakeGenericMethod (typeof (string)));
        il.Emit (OpCodes.Call, typeof (string).GetMethod ("Concat", new [] { typeof (string), typeof (string) }));
        // Arrays with two dimensions.
        var array = il.DeclareLocal (typeof (int [,]));
        il.Emit (OpCodes.Ldc_I4_2);
        il.Emit (OpCodes.Ldc_I4_3);
        il.Emit (OpCodes.Newobj, typeof (int [,]).GetConstructor (new [] { typeof (int), typeof (int) }));
        il.Emit (OpCodes.Stloc, array);
        il.Emit (OpCodes.Ldloc, array);
        il.Emit (OpCodes.Ldc_I4_1);
        il.Emit (OpCodes.Ldc_I4_2);
        il.Emit (OpCodes.Ldc_I4, 55);
        il.Emit (OpCodes.Call, typeof (int [,]).GetMethod ("Set"));
        il.Emit (OpCodes.Ldloc, array);
        il.Emit (OpCodes.Ldc_I4_1);
        il.Emit (OpCodes.Ldc_I4_2);
        il.Emit (OpCodes.Call, typeof (int [,]).GetMethod ("Get"));
        il.Emit (OpCodes.Box, typeof (int));
        il.Emit (OpCodes.Call, typeof (string).GetMethod ("Concat", new [] { typeof (object), typeof (object) }));
        // A call through a pointer.
        il.Emit (OpCodes.Ldc_I4_5);
        il.Emit (OpCodes.Ldftn, typeof (Program).GetMethod (nameof (Double)));
        il.EmitCalli (OpCodes.Calli, CallingConventions.Standard, typeof (int), new [] { typeof (int) }, null);
        il.Emit (OpCodes.Box, typeof (int));
        il.Emit (OpCodes.Call, typeof (string).GetMethod ("Concat", new [] { typeof (object), typeof (object) }));
        // Tokens as values.
        il.Emit (OpCodes.Ldtoken, type);
        il.Emit (OpCodes.Call, typeof (Type).GetMethod ("GetTypeFromHandle"));
        il.Emit (OpCodes.Call, typeof (string).GetMethod ("Concat", new [] { typeof (object), typeof (object) }));
        il.Emit (OpCodes.Ret);
        var created = type.CreateType ();
        Console.WriteLine (created.GetMethod ("Run").Invoke (null, null));
        var body = created.GetMethod ("Run").GetMethodBody ();
        Console.WriteLine ($"{body.GetILAsByteArray ().Length} {body.LocalVariables [0].LocalType} {body.InitLocals}");
        // The tokens in the code are those of the module.
        var code = body.GetILAsByteArray ();
        Console.WriteLine (module.ResolveString (BitConverter.ToInt32 (code, 2)));
        Console.WriteLine (module.ResolveMethod (BitConverter.ToInt32 (code, 7)));
        Console.WriteLine (created.Module.ResolveMember (BitConverter.ToInt32 (code, 12)));
        Console.WriteLine (string.Join (", ", module.Assembly.GetReferencedAssemblies ().Select (a => a.Name)));
    }

    public static int Double (int number) => 2 * number;

    static void Resolving ()
    {
        var module = NewModule ("Resolving");
        var list = module.GetTypeMetadataToken (typeof (List<int>));
        var uri = module.GetTypeMetadataToken (typeof (Dictionary<,>));
        var text = module.GetStringMetadataToken ("some text");
        var write = module.GetMethodMetadataToken (typeof (Console).GetMethod ("WriteLine", new [] { typeof (string) }));
        var empty = module.GetFieldMetadataToken (typeof (string).GetField ("Empty"));
        Console.WriteLine (module.ResolveType (list));
        Console.WriteLine (module.ResolveType (uri));
        Console.WriteLine (module.ResolveString (text));
        Console.WriteLine (module.ResolveMethod (write));
        Console.WriteLine (module.ResolveField (empty));
        Console.WriteLine (list == module.GetTypeMetadataToken (typeof (List<int>)));
        var type = module.DefineType ("Later", TypeAttributes.Public);
        var field = type.DefineField ("f", typeof (int), FieldAttributes.Public);
        var method = type.DefineMethod ("m", PublicStatic, typeof (void), null);
        method.GetILGenerator ().Emit (OpCodes.Ret);
        foreach (var token in new [] { type.MetadataToken, field.MetadataToken, method.MetadataToken })
            try {
                Console.WriteLine (module.ResolveMember (token));
            } catch (Exception e) {
                Console.WriteLine (e.GetType ().Name);
            }
        type.CreateType ();
        foreach (var token in new [] { type.MetadataToken, field.MetadataToken, method.MetadataToken })
            Console.WriteLine (module.ResolveMember (token));
    }

    static void OtherModules ()
    {
        var first = NewModule ("First");
        var pair = first.DefineType ("Pair", TypeAttributes.Public);
        var t = pair.DefineGenericParameters ("A", "B");
        var a = pair.DefineField ("A", t [0], FieldAttributes.Public);
        var swap = pair.DefineMethod ("Make", PublicStatic, t [0], new Type [] { t [0] });
        var il = swap.GetILGenerator ();
        var local = il.DeclareLocal (pair.MakeGenericType (t [0], t [1]));
        il.Emit (OpCodes.Newobj, pair.DefineDefaultConstructor (MethodAttributes.Public));
        il.Emit (OpCodes.Stloc, local);
        il.Emit (OpCodes.Ldloc, local);
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Stfld, TypeBuilder.GetField (pair.MakeGenericType (t [0], t [1]), a));
        il.Emit (OpCodes.Ldloc, local);
        il.Emit (OpCodes.Ldfld, TypeBuilder.GetField (pair.MakeGenericType (t [0], t [1]), a));
        il.Emit (OpCodes.Ret);
        var second = NewModule ("Second");
        var user = second.DefineType ("User", TypeAttributes.Public);
        var instance = pair.MakeGenericType (typeof (string), user);
        il = user.DefineMethod ("Use", PublicStatic, typeof (string), Type.EmptyTypes).GetILGenerator ();
        il.Emit (OpCodes.Ldstr, "made");
        il.Emit (OpCodes.Call, TypeBuilder.GetMethod (instance, swap));
        il.Emit (OpCodes.Ret);
        var userType = user.CreateType ();
        var pairType = pair.CreateType ();
        Console.WriteLine (userType.GetMethod ("Use").Invoke (null, null));
        // Once created, the types are like others.
        var third = NewModule ("Third");
        var derived = third.DefineType ("Derived", TypeAttributes.Public, pairType.MakeGenericType (typeof (int), userType));
        il = derived.DefineMethod ("Get", MethodAttributes.Public, typeof (int), Type.EmptyTypes).GetILGenerator ();
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldc_I4, 31);
        il.Emit (OpCodes.Stfld, pairType.MakeGenericType (typeof (int), userType).GetField ("A"));
        il.Emit (OpCodes.Ldarg_0);
        il.Emit (OpCodes.Ldfld, pairType.MakeGenericType (typeof (int), userType).GetField ("A"));
        il.Emit (OpCodes.Ret);
        var derivedType = derived.CreateType ();
        Console.WriteLine (derivedType.GetMethod ("Get").Invoke (Activator.CreateInstance (derivedType), null));
        Console.WriteLine (derivedType.BaseType);
        Console.WriteLine (string.Join (", ", third.Assembly.GetReferencedAssemblies ().Select (r => r.Name)));
    }

    static void Late ()
    {
        var module = NewModule ("Late");
        var type = module.DefineType ("Marked", TypeAttributes.Public);
        type.SetCustomAttribute (Mark (1));
        var method = type.DefineMethod ("m", PublicStatic, typeof (void), null);
        method.GetILGenerator ().Emit (OpCodes.Ret);
        var created = type.CreateType ();
        method.SetCustomAttribute (Mark (2));
        Console.WriteLine (string.Join (" ", created.GetCustomAttributes (false)));
        Console.WriteLine (string.Join (" ", created.GetMethod ("m").GetCustomAttributes (false)));
        module.SetCustomAttribute (Mark (3));
        module.SetCustomAttribute (Mark (4));
        Console.WriteLine (string.Join (" ", module.GetCustomAttributes (false)));
        Console.WriteLine (created.Module.IsDefined (typeof (MarkAttribute), false));
        // An attribute class of the module itself.
        var attribute = module.DefineType ("OwnAttribute", TypeAttributes.Public, typeof (Attribute));
        var constructor = attribute.DefineDefaultConstructor (MethodAttributes.Public);
        var holder = module.DefineType ("Holder", TypeAttributes.Public);
        holder.SetCustomAttribute (new CustomAttributeBuilder (constructor, new object [0]));
        var holderType = holder.CreateType ();
        attribute.CreateType ();
        Console.WriteLine (string.Join (" ", holderType.GetCustomAttributes (false)));
    }

    static void Friends ()
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly (new AssemblyName ("Open"), AssemblyBuilderAccess.Run);
        assembly.SetCustomAttribute (new CustomAttributeBuilder (typeof (InternalsVisibleToAttribute).GetConstructors () [0], new object [] { "Guest" }));
        var host = assembly.DefineDynamicModule ("Open").DefineType ("Host", TypeAttributes.NotPublic);
        var secret = host.DefineMethod ("Secret", MethodAttributes.Assembly | MethodAttributes.Static, typeof (int), Type.EmptyTypes);
        var il = secret.GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4, 1234);
        il.Emit (OpCodes.Ret);
        host.CreateType ();
        foreach (var name in new [] { "Guest", "Stranger" }) {
            var guest = NewModule (name).DefineType ("Visitor", TypeAttributes.Public);
            il = guest.DefineMethod ("Visit", PublicStatic, typeof (int), Type.EmptyTypes).GetILGenerator ();
            il.Emit (OpCodes.Call, secret);
            il.Emit (OpCodes.Ret);
            try {
                Console.WriteLine (guest.CreateType ().GetMethod ("Visit").Invoke (null, null));
            } catch (TargetInvocationException e) {
                Console.WriteLine (e.InnerException.GetType ().Name);
            }
        }
    }

    static void Interfaces ()
    {
        var module = NewModule ("Interfaces");
        var shape = module.DefineType ("IShape", TypeAttributes.Public | TypeAttributes.Interface | TypeAttributes.Abstract);
        shape.DefineMethod ("Area", MethodAttributes.Public | MethodAttributes.Abstract | MethodAttributes.Virtual | MethodAttributes.NewSlot | MethodAttributes.HideBySig, typeof (int), Type.EmptyTypes);
        var name = shape.DefineMethod ("Name", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.NewSlot | MethodAttributes.HideBySig, typeof (string), Type.EmptyTypes);
        var il = name.GetILGenerator ();
        il.Emit (OpCodes.Ldstr, "default name");
        il.Emit (OpCodes.Ret);
        var tile = module.DefineType ("Tile", TypeAttributes.Public, typeof (object), new Type [] { shape });
        il = tile.DefineMethod ("Area", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.HideBySig, typeof (int), Type.EmptyTypes).GetILGenerator ();
        il.Emit (OpCodes.Ldc_I4_4);
        il.Emit (OpCodes.Ret);
        var shapeType = shape.CreateType ();
        var tileType = tile.CreateType ();
        var made = Activator.CreateInstance (tileType);
        Console.WriteLine (shapeType.GetMethod ("Area").Invoke (made, null) + " " + shapeType.GetMethod ("Name").Invoke (made, null));
        Console.WriteLine (shapeType.IsAssignableFrom (tileType));
        try {
            var thrower = module.DefineType ("Thrower", TypeAttributes.Public);
            il = thrower.DefineMethod ("Throw", PublicStatic, typeof (void), null).GetILGenerator ();
            il.ThrowException (typeof (InvalidOperationException));
            thrower.CreateType ().GetMethod ("Throw").CreateDelegate<Action> () ();
        } catch (InvalidOperationException e) {
            Console.WriteLine (e.StackTrace.Split ('\n') [0].TrimEnd ());
        }
    }

    public static void Main ()
    {
        foreach (var part in new Action [] { References, Resolving, OtherModules, Late, Friends, Interfaces }) {
            Console.WriteLine ($"-- {part.Method.Name}");
            try {
                part ();
            } catch (Exception e) {
                Console.WriteLine (e);
            }
        }
    }
}
