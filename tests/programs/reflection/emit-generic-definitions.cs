// The generic definition of an instantiation of a type made at run time is its TypeBuilder, also when the type is finished.
using System;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static void Main ()
    {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly (new AssemblyName ("Made"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule ("Made");
        var builder = module.DefineType ("Pair", TypeAttributes.Public);
        builder.DefineGenericParameters ("A", "B");
        builder.DefineDefaultConstructor (MethodAttributes.Public);
        var type = builder.CreateType ();
        var pair = type.MakeGenericType (typeof (string), typeof (int));
        Console.WriteLine (ReferenceEquals (pair.GetGenericTypeDefinition (), builder));
        Console.WriteLine (ReferenceEquals (type.GetGenericTypeDefinition (), type));
        Console.WriteLine (ReferenceEquals (Activator.CreateInstance (pair).GetType ().GetGenericTypeDefinition (), builder));
        Console.WriteLine (pair);
    }
}
