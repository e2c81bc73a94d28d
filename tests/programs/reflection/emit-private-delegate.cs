// A delegate type whose Invoke is private, as compilers of dynamic languages emit them: delegates of it are made and called through reflection.
using System;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;

class Program {
    public static int Answer(int x) { return x + 1; }

    static void Main() {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Private"), AssemblyBuilderAccess.Run);
        var module = assembly.DefineDynamicModule("Private");
        var builder = module.DefineType("Private", TypeAttributes.Sealed, typeof(MulticastDelegate));
        const MethodImplAttributes runtime = MethodImplAttributes.Runtime;
        builder.DefineConstructor(MethodAttributes.RTSpecialName | MethodAttributes.HideBySig | MethodAttributes.Public,
            CallingConventions.Standard, new[] { typeof(object), typeof(IntPtr) }).SetImplementationFlags(runtime);
        builder.DefineMethod("Invoke", MethodAttributes.Private | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.Virtual,
            typeof(int), new[] { typeof(int) }).SetImplementationFlags(runtime);
        Type type = builder.CreateType();

        Console.WriteLine(type.GetMethod("Invoke").IsPrivate);
        Console.WriteLine(type.GetMethod("Invoke", BindingFlags.Public | BindingFlags.Instance) == null);
        Console.WriteLine(Delegate.CreateDelegate(type, typeof(Program).GetMethod("Answer")).DynamicInvoke(41));

        var parameter = Expression.Parameter(typeof(int));
        Delegate compiled = Expression.Lambda(type, Expression.Add(parameter, Expression.Constant(2)), parameter).Compile();
        Console.WriteLine(compiled.GetType() + " " + compiled.DynamicInvoke(41));
        var call = Expression.Lambda<Func<int>>(Expression.Invoke(Expression.Constant(compiled), Expression.Constant(5)));
        Console.WriteLine(call.Compile()());
    }
}
