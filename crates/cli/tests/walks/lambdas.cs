// Threads make dynamic methods, run them and drop them. Arguments: methods in all, threads.
using System;
using System.Reflection.Emit;
using System.Threading;

static class Lambdas
{
    delegate int Unary(int x);

    static int next;
    static long wrong;

    public static int Spin(int x)
    {
        for (int i = 0; i < 400; i++)
            x = x * 31 + i;
        return x;
    }

    static Unary Make(int value)
    {
        var method = new DynamicMethod("method_" + value, typeof(int), new[] { typeof(int) }, typeof(Lambdas).Module);
        ILGenerator il = method.GetILGenerator();
        LocalBuilder count = il.DeclareLocal(typeof(int));
        Label again = il.DefineLabel();
        il.Emit(OpCodes.Ldc_I4, 20000);
        il.Emit(OpCodes.Stloc, count);
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldloc, count);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Stloc, count);
        il.Emit(OpCodes.Ldloc, count);
        il.Emit(OpCodes.Brtrue, again);
        il.Emit(OpCodes.Ldarg_0);
        if (value % 2 == 0)
            il.EmitCall(OpCodes.Call, typeof(Lambdas).GetMethod("Spin"), null);
        il.Emit(OpCodes.Ldc_I4, value);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return (Unary)method.CreateDelegate(typeof(Unary));
    }

    static void Work(int methods)
    {
        for (;;)
        {
            int index = Interlocked.Increment(ref next) - 1;
            if (index >= methods)
                return;
            int expected = index + (index % 2 == 0 ? Spin(3) : 3);
            if (Make(index)(3) != expected)
                Interlocked.Increment(ref wrong);
            if (index % 2000 == 0)
                GC.Collect();
        }
    }

    static int Main(string[] args)
    {
        int methods = int.Parse(args[0]);
        var threads = new Thread[int.Parse(args[1])];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => Work(methods));
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine(wrong == 0 ? "ok" : "wrong results: " + wrong);
        return wrong == 0 ? 0 : 1;
    }
}
