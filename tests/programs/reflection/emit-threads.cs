// Types made by several threads at once, in one module and in modules of their own, used at once.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Threading;

public interface IAdd { int Add(int n); }

static class Program
{
    const int Threads = 4, TypesPerThread = 40;

    static Type Make(ModuleBuilder module, string name, int constant)
    {
        TypeBuilder type;
        lock (module) type = module.DefineType(name, TypeAttributes.Public, typeof(object), new[] { typeof(IAdd) });
        MethodBuilder add = type.DefineMethod("Add", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), new[] { typeof(int) });
        ILGenerator il = add.GetILGenerator();
        il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Ldc_I4, constant); il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ldstr, name); il.Emit(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod()); il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        lock (module) return type.CreateType();
    }

    static void Main()
    {
        ModuleBuilder shared = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Shared"), AssemblyBuilderAccess.Run).DefineDynamicModule("Shared");
        long total = 0;
        Thread[] threads = new Thread[Threads];
        for (int t = 0; t < Threads; t++)
        {
            int number = t;
            threads[t] = new Thread(() =>
            {
                ModuleBuilder own = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("Own" + number), AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("Own");
                for (int i = 0; i < TypesPerThread; i++)
                {
                    ModuleBuilder module = i % 2 == 0 ? shared : own;
                    IAdd made = (IAdd)Activator.CreateInstance(Make(module, "T" + number + "x" + (100 + i), i));
                    Interlocked.Add(ref total, made.Add(1));
                }
            });
            threads[t].Start();
        }
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine("{0} {1}", total, Threads * (TypesPerThread * (1 + 6) + TypesPerThread * (TypesPerThread - 1) / 2));
        Console.WriteLine(shared.GetTypes().Length);
    }
}
