// Lambdas whose delegate types are made at run time: by-reference and many parameters; their members by reflection.
using System;
using System.Linq;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;

static class Program
{
    static void Main()
    {
        ParameterExpression place = Expression.Parameter(typeof(int).MakeByRefType(), "place");
        LambdaExpression increment = Expression.Lambda(Expression.Assign(place, Expression.Add(place, Expression.Constant(5))), place);
        Delegate compiled = increment.Compile();
        object[] arguments = { 37 };
        Console.WriteLine("{0} {1}", compiled.DynamicInvoke(arguments), arguments[0]);

        ParameterExpression[] many = Enumerable.Range(0, 20).Select(i => Expression.Parameter(typeof(long), "p" + i)).ToArray();
        Expression sum = many.Aggregate((Expression)Expression.Constant(0L), (a, b) => Expression.Add(a, b));
        Delegate add = Expression.Lambda(sum, many).Compile();
        Console.WriteLine(add.DynamicInvoke(Enumerable.Range(1, 20).Select(i => (object)(long)i).ToArray()));
        Type type = add.GetType();
        Console.WriteLine("{0} {1} {2}", type.BaseType, type.IsSealed, type.GetMethod("Invoke").GetParameters().Length);
        Console.WriteLine("{0} {1}", type.Assembly.IsDynamic, type.Module.GetType());

        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Made, Version=1.2.3.4"), AssemblyBuilderAccess.Run);
        ModuleBuilder module = assembly.DefineDynamicModule("Made");
        TypeBuilder builder = module.DefineType("Ns.Callback", TypeAttributes.Public | TypeAttributes.Sealed, typeof(MulticastDelegate));
        builder.DefineConstructor(MethodAttributes.Public | MethodAttributes.HideBySig | MethodAttributes.RTSpecialName, CallingConventions.Standard, new[] { typeof(object), typeof(IntPtr) }).SetImplementationFlags(MethodImplAttributes.Runtime);
        builder.DefineMethod("Invoke", MethodAttributes.Public | MethodAttributes.HideBySig | MethodAttributes.NewSlot | MethodAttributes.Virtual, typeof(string), new[] { typeof(string), typeof(int[]) }).SetImplementationFlags(MethodImplAttributes.Runtime);
        Type callback = builder.CreateType();
        Console.WriteLine("{0}, {1}", callback.AssemblyQualifiedName, callback == assembly.GetType("Ns.Callback"));
        Delegate joined = Delegate.CreateDelegate(callback, typeof(Program).GetMethod("Join", BindingFlags.NonPublic | BindingFlags.Static));
        Console.WriteLine(joined.DynamicInvoke("-", new[] { 1, 2, 3 }));
        Console.WriteLine(Delegate.Combine(joined, joined).GetInvocationList().Length);
        Console.WriteLine(callback.GetMethod("Invoke"));
    }

    static string Join(string separator, int[] numbers) { return string.Join(separator, numbers); }
}
