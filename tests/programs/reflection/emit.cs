// Reflection.Emit: a dynamic assembly with a type.
using System;
using System.Reflection;
using System.Reflection.Emit;

public interface IGreeter { string Greet(string name); int Count { get; } }

static class Program
{
    static Type BuildGreeter()
    {
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Dynamic"), AssemblyBuilderAccess.Run);
        ModuleBuilder module = assembly.DefineDynamicModule("Dynamic");
        TypeBuilder type = module.DefineType("Greeter", TypeAttributes.Public, typeof(object), new[] { typeof(IGreeter) });
        FieldBuilder count = type.DefineField("count", typeof(int), FieldAttributes.Private), prefix = type.DefineField("prefix", typeof(string), FieldAttributes.Private);
        ConstructorBuilder constructor = type.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(string) });
        ILGenerator il = constructor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Stfld, prefix);
        il.Emit(OpCodes.Ret);
        MethodBuilder greet = type.DefineMethod("Greet", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), new[] { typeof(string) });
        il = greet.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, count);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stfld, count);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, prefix);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) }));
        il.Emit(OpCodes.Ret);
        MethodBuilder getter = type.DefineMethod("get_Count", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.SpecialName, typeof(int), Type.EmptyTypes);
        il = getter.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, count);
        il.Emit(OpCodes.Ret);
        type.DefineProperty("Count", PropertyAttributes.None, typeof(int), null).SetGetMethod(getter);
        return type.CreateType();
    }

    static void Main()
    {
        Type type = BuildGreeter();
        IGreeter greeter = (IGreeter)Activator.CreateInstance(type, "Hello, ");
        Console.WriteLine("{0} {1}", greeter.Greet("a"), greeter.Greet("b"));
        Console.WriteLine("{0} {1} {2}", greeter.Count, type.FullName, type.GetProperty("Count").GetValue(greeter, null));
    }
}
