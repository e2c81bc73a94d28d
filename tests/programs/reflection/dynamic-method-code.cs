// Dynamic methods: mutual recursion, handlers of all kinds, structs, generics, tokens, calli, closed delegates, traces.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public struct Pair { public int A; public string B; public Pair(int a, string b) { A = a; B = b; } }

static class Program
{
    delegate void Throwing1(string text, int number);

    static void Throwing() { throw new InvalidOperationException("inner"); }
    static int unseen = 1;
    public static int Twice(int x) { return 2 * x; }

    static Func<int, bool> Parity()
    {
        Type[] ints = { typeof(int) };
        DynamicMethod even = new DynamicMethod("Even", typeof(bool), ints), odd = new DynamicMethod("Odd", typeof(bool), ints);
        foreach (DynamicMethod method in new[] { even, odd })
        {
            ILGenerator il = method.GetILGenerator();
            Label more = il.DefineLabel();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Brtrue_S, more);
            il.Emit(method == even ? OpCodes.Ldc_I4_1 : OpCodes.Ldc_I4_0);
            il.Emit(OpCodes.Ret);
            il.MarkLabel(more);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Call, method == even ? odd : even);
            il.Emit(OpCodes.Ret);
        }
        return (Func<int, bool>)even.CreateDelegate(typeof(Func<int, bool>));
    }

    static void Handlers()
    {
        DynamicMethod method = new DynamicMethod("Handlers", typeof(string), new[] { typeof(Action), typeof(List<string>) }, typeof(Program));
        MethodInfo add = typeof(List<string>).GetMethod("Add");
        ILGenerator il = method.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.BeginExceptionBlock();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Callvirt, typeof(Action).GetMethod("Invoke"));
        il.BeginFaultBlock();
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ldstr, "fault");
        il.Emit(OpCodes.Callvirt, add);
        il.EndExceptionBlock();
        il.BeginExceptFilterBlock();
        il.Emit(OpCodes.Isinst, typeof(InvalidOperationException));
        il.Emit(OpCodes.Ldnull);
        il.Emit(OpCodes.Cgt_Un);
        il.BeginCatchBlock(null);
        il.Emit(OpCodes.Callvirt, typeof(Exception).GetProperty("Message").GetGetMethod());
        il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.BeginCatchBlock(typeof(Exception));
        il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("GetType"));
        il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString"));
        il.Emit(OpCodes.Stloc, result);
        il.BeginFinallyBlock();
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ldstr, "finally");
        il.Emit(OpCodes.Callvirt, add);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        var run = (Func<Action, List<string>, string>)method.CreateDelegate(typeof(Func<Action, List<string>, string>));
        foreach (Action action in new Action[] { Throwing, () => { throw new ArgumentNullException("x"); }, () => { } })
        {
            List<string> log = new List<string>();
            string text = run(action, log);
            Console.WriteLine("{0} {1}", text ?? "nothing", string.Join(",", log));
        }
    }

    static void Tokens()
    {
        DynamicMethod method = new DynamicMethod("Tokens", typeof(string), new[] { typeof(object) }, typeof(Program));
        ILGenerator il = method.GetILGenerator();
        LocalBuilder pair = il.DeclareLocal(typeof(Pair));
        il.Emit(OpCodes.Ldloca, pair);
        il.Emit(OpCodes.Ldc_I4, 21);
        il.Emit(OpCodes.Ldftn, typeof(Program).GetMethod("Twice"));
        il.EmitCalli(OpCodes.Calli, CallingConventions.Standard, typeof(int), new[] { typeof(int) }, null);
        il.Emit(OpCodes.Ldtoken, typeof(Dictionary<string, int>));
        il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle"));
        il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString"));
        il.Emit(OpCodes.Call, typeof(Pair).GetConstructor(new[] { typeof(int), typeof(string) }));
        il.Emit(OpCodes.Ldloc, pair);
        il.Emit(OpCodes.Box, typeof(Pair));
        il.Emit(OpCodes.Unbox, typeof(Pair));
        il.Emit(OpCodes.Ldfld, typeof(Pair).GetField("A"));
        il.Emit(OpCodes.Box, typeof(int));
        il.Emit(OpCodes.Ldloca, pair);
        il.Emit(OpCodes.Ldfld, typeof(Pair).GetField("B"));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(object), typeof(object), typeof(object) }));
        il.Emit(OpCodes.Ret);
        Console.WriteLine(((Func<string>)method.CreateDelegate(typeof(Func<string>), " closed"))());
        Console.WriteLine(method.Invoke(null, new object[] { " invoked" }));
    }

    static void Traces()
    {
        DynamicMethod method = new DynamicMethod("Thrower", typeof(void), new[] { typeof(string), typeof(int) });
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Newobj, typeof(FormatException).GetConstructor(new[] { typeof(string) }));
        il.Emit(OpCodes.Throw);
        try
        {
            ((Throwing1)method.CreateDelegate(typeof(Throwing1)))("thrown", 1);
        }
        catch (FormatException e)
        {
            Console.WriteLine("{0}: {1}", e.Message, e.StackTrace.Split('\n')[0].Trim());
        }
        DynamicMethod foreign = new DynamicMethod("Foreign", typeof(int), Type.EmptyTypes, typeof(Pair));
        il = foreign.GetILGenerator();
        il.Emit(OpCodes.Ldsfld, typeof(Program).GetField("unseen", BindingFlags.NonPublic | BindingFlags.Static));
        il.Emit(OpCodes.Ret);
        try
        {
            Console.WriteLine(((Func<int>)foreign.CreateDelegate(typeof(Func<int>)))());
        }
        catch (FieldAccessException e)
        {
            Console.WriteLine(e.GetType());
        }
        DynamicMethod hidden = new DynamicMethod("Hidden", typeof(void), Type.EmptyTypes);
        il = hidden.GetILGenerator();
        il.Emit(OpCodes.Call, typeof(Program).GetMethod("Throwing", BindingFlags.NonPublic | BindingFlags.Static));
        il.Emit(OpCodes.Ret);
        try
        {
            ((Action)hidden.CreateDelegate(typeof(Action)))();
        }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType());
        }
    }

    static void Main()
    {
        Func<int, bool> even = Parity();
        Console.WriteLine("{0} {1}", even(10), even(7));
        Handlers();
        Tokens();
        Traces();
        Console.WriteLine(new DynamicMethod("Empty", typeof(int), new[] { typeof(string) }));
        try
        {
            new DynamicMethod("Empty", typeof(int), null).CreateDelegate(typeof(Func<int>));
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);
        }
    }
}
