// ModuleBuilder.GetArrayMethod gives dynamic methods the accessors of multi-dimensional arrays.
using System;
using System.Reflection;
using System.Reflection.Emit;

class Program {
    static void Main() {
        var assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Arrays"), AssemblyBuilderAccess.Run);
        ModuleBuilder module = assembly.DefineDynamicModule("Arrays");
        Type grid = typeof(int[,]);
        var indices = new[] { typeof(int), typeof(int) };
        MethodInfo get = module.GetArrayMethod(grid, "Get", CallingConventions.HasThis, typeof(int), indices);
        MethodInfo set = module.GetArrayMethod(grid, "Set", CallingConventions.HasThis, typeof(void), new[] { typeof(int), typeof(int), typeof(int) });

        var method = new DynamicMethod("Swap", typeof(int), new[] { grid }, module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Call, get);
        il.Emit(OpCodes.Call, set);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Call, get);
        il.Emit(OpCodes.Ret);
        var swap = (Func<int[,], int>)method.CreateDelegate(typeof(Func<int[,], int>));
        Console.WriteLine(swap(new[,] { { 1, 2 }, { 3, 4 } }));
    }
}
