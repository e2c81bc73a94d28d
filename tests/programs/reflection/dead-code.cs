// Instructions behind a throw that name variables the method does not have: nothing gets there, so the method runs.
using System;
using System.Reflection.Emit;

class Program {
    static void Main() {
        var method = new DynamicMethod("Dead", typeof(int), Type.EmptyTypes);
        ILGenerator il = method.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(int));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldstr, "thrown");
        il.Emit(OpCodes.Newobj, typeof(Exception).GetConstructor(new[] { typeof(string) }));
        il.Emit(OpCodes.Throw);
        il.Emit(OpCodes.Ldarg, 17);
        il.Emit(OpCodes.Stloc, 9);
        il.BeginCatchBlock(typeof(Exception));
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<int>)method.CreateDelegate(typeof(Func<int>)))());

        var reached = new DynamicMethod("Reached", typeof(int), Type.EmptyTypes);
        il = reached.GetILGenerator();
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ret);
        try { ((Func<int>)reached.CreateDelegate(typeof(Func<int>)))(); }
        catch (InvalidProgramException) { Console.WriteLine("invalid"); }
    }
}
