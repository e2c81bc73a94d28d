// The CIL that GetMethodBody shows of a method made at run time has tokens that the method's module resolves.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static void Main ()
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("Made"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule ("Made");
        // Types before and after, so that rows of the module and of one type differ.
        module.DefineType ("Before").CreateType ();
        var type = module.DefineType ("Type", TypeAttributes.Public);
        var field = type.DefineField ("Field", typeof (int), FieldAttributes.Public | FieldAttributes.Static);
        var other = type.DefineMethod ("Other", MethodAttributes.Public | MethodAttributes.Static, typeof (void), Type.EmptyTypes);
        other.GetILGenerator ().Emit (OpCodes.Ret);
        var method = type.DefineMethod ("Method", MethodAttributes.Public | MethodAttributes.Static, typeof (void), Type.EmptyTypes);
        var il = method.GetILGenerator ();
        il.DeclareLocal (typeof (string));
        il.Emit (OpCodes.Ldstr, "text");
        il.Emit (OpCodes.Call, typeof (Console).GetMethod ("WriteLine", new [] { typeof (string) }));
        il.Emit (OpCodes.Ldsfld, field);
        il.Emit (OpCodes.Pop);
        il.Emit (OpCodes.Call, other);
        il.Emit (OpCodes.Ldtoken, typeof (List<int>));
        il.Emit (OpCodes.Pop);
        il.Emit (OpCodes.Newobj, typeof (List<int>).GetConstructor (Type.EmptyTypes));
        il.Emit (OpCodes.Pop);
        il.Emit (OpCodes.Ret);
        var made = type.CreateType ();
        var body = made.GetMethod ("Method").GetMethodBody ();
        var code = body.GetILAsByteArray ();
        Console.WriteLine ("{0} {1}", code.Length, body.LocalVariables[0].LocalType);
        Console.WriteLine (made.Module.ResolveString (BitConverter.ToInt32 (code, 1)));
        foreach (int at in new [] { 6, 11, 17, 22, 28 }) {
            var member = made.Module.ResolveMember (BitConverter.ToInt32 (code, at));
            Console.WriteLine ("{0} of {1}", member, member.DeclaringType);
        }
        made.GetMethod ("Method").Invoke (null, null);
    }
}
