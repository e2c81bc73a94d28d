// Dynamic methods: loops, calls, exceptions, private access, many of them.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public class Secretive { int hidden = 41; public int Reveal() { return hidden; } }

static class Program
{
    static DynamicMethod Loop()
    {
        DynamicMethod method = new DynamicMethod("Loop", typeof(long), new[] { typeof(int) }, typeof(Program));
        ILGenerator il = method.GetILGenerator();
        LocalBuilder i = il.DeclareLocal(typeof(int)), sum = il.DeclareLocal(typeof(long));
        Label test = il.DefineLabel(), body = il.DefineLabel();
        il.Emit(OpCodes.Br, test);
        il.MarkLabel(body);
        il.Emit(OpCodes.Ldloc, sum);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, sum);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, i);
        il.MarkLabel(test);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Blt, body);
        il.Emit(OpCodes.Ldloc, sum);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static Func<int, string> Guarded()
    {
        DynamicMethod method = new DynamicMethod("Guarded", typeof(string), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldc_I4, 100);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Div);
        il.Emit(OpCodes.Box, typeof(int));
        il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString"));
        il.Emit(OpCodes.Stloc, result);
        il.BeginCatchBlock(typeof(DivideByZeroException));
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldstr, "division");
        il.Emit(OpCodes.Stloc, result);
        il.BeginFinallyBlock();
        il.EmitWriteLine("finally");
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        return (Func<int, string>)method.CreateDelegate(typeof(Func<int, string>));
    }

    static void Main()
    {
        Func<int, long> loop = (Func<int, long>)Loop().CreateDelegate(typeof(Func<int, long>));
        Console.WriteLine("{0} {1}", loop(1000), Loop().Invoke(null, new object[] { 10 }));
        Func<int, string> guarded = Guarded();
        Console.WriteLine("{0} {1}", guarded(7), guarded(0));
        DynamicMethod peek = new DynamicMethod("Peek", typeof(int), new[] { typeof(Secretive) }, typeof(Secretive), true);
        ILGenerator il = peek.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, typeof(Secretive).GetField("hidden", BindingFlags.NonPublic | BindingFlags.Instance));
        il.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<Secretive, int>)peek.CreateDelegate(typeof(Func<Secretive, int>)))(new Secretive()));
        List<Func<int, int>> many = new List<Func<int, int>>();
        for (int n = 0; n < 200; n++)
        {
            DynamicMethod add = new DynamicMethod("Add" + n, typeof(int), new[] { typeof(int) });
            il = add.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, n);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            many.Add((Func<int, int>)add.CreateDelegate(typeof(Func<int, int>)));
        }
        int total = 0;
        foreach (Func<int, int> f in many)
            total = f(total);
        Console.WriteLine(total);
    }
}
