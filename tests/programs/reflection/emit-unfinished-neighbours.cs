// Types made at run time in an order that leaves others unfinished: nested types before the ones around them, and classes whose static
// fields are of an enum that nobody creates, which can be finished but not used.
using System;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static ModuleBuilder module;

    static void NestedFirst ()
    {
        var outer = module.DefineType ("Space.Outer", TypeAttributes.Public);
        var middle = outer.DefineNestedType ("Middle", TypeAttributes.NestedPublic);
        var inner = middle.DefineNestedType ("Inner", TypeAttributes.NestedPublic);
        var made = inner.CreateType ();
        Console.WriteLine ("{0} {1} {2}", made.FullName, made.Namespace, made.Name);
        Console.WriteLine ("{0} {1}", made.DeclaringType, made.DeclaringType is TypeBuilder);
        Console.WriteLine (Activator.CreateInstance (made));
        var around = middle.CreateType ();
        Console.WriteLine ("{0} {1} {2}", made.DeclaringType == around, around.DeclaringType is TypeBuilder, around.FullName);
        var outermost = outer.CreateType ();
        Console.WriteLine ("{0} {1}", around.DeclaringType == outermost, made.FullName);
    }

    static void StaticEnum (bool isStatic)
    {
        var name = isStatic ? "Static" : "Instance";
        var numbers = module.DefineEnum (name + "Enum", TypeAttributes.Public, typeof (int));
        numbers.DefineLiteral ("One", 1);
        var user = module.DefineType (name + "User", TypeAttributes.Public);
        user.DefineDefaultConstructor (MethodAttributes.Public);
        user.DefineField ("field", numbers, FieldAttributes.Public | (isStatic ? FieldAttributes.Static : 0));
        var type = user.CreateType ();
        try {
            Console.WriteLine (Activator.CreateInstance (type));
        } catch (TypeLoadException e) {
            Console.WriteLine ("{0}: {1} {2}", type, e.GetType ().Name, isStatic ? e.TypeName : "");
        }
    }

    static void Main ()
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("Made"), AssemblyBuilderAccess.Run);
        module = assembly.DefineDynamicModule ("Made");
        NestedFirst ();
        StaticEnum (true);
        StaticEnum (false);
    }
}
