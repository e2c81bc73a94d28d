// What a finished dynamic method refuses: its body and token are no one's business, and CIL that cannot be compiled is told when the
// delegate is made, not when it is called.
using System;
using System.Reflection;
using System.Reflection.Emit;

static class Program {
    static DynamicMethod Make (params OpCode[] code)
    {
        var method = new DynamicMethod ("Made", typeof (int), new [] { typeof (int) });
        var il = method.GetILGenerator ();
        foreach (var instruction in code)
            il.Emit (instruction);
        return method;
    }

    static void Try (string what, Func<object> work)
    {
        try {
            Console.WriteLine ("{0}: {1}", what, work ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1} {2}", what, e.GetType ().Name, e.InnerException == null ? "" : e.InnerException.GetType ().Name);
        }
    }

    static void Main ()
    {
        var type = typeof (Func<int, int>);
        var good = Make (OpCodes.Ldarg_0, OpCodes.Ret);
        Try ("body before", () => good.GetMethodBody ());
        var made = (Func<int, int>) good.CreateDelegate (type);
        Try ("call", () => made (5));
        Try ("body", () => made.Method.GetMethodBody ());
        Try ("token", () => made.Method.MetadataToken);
        Try ("token of an array's method", () => typeof (int[,]).GetMethod ("Get").MetadataToken);
        Try ("no values", () => Make (OpCodes.Add, OpCodes.Ret).CreateDelegate (type) == null);
        Try ("no end", () => Make (OpCodes.Ldarg_0).CreateDelegate (type) == null);
        Try ("invoked", () => Make (OpCodes.Add, OpCodes.Ret).Invoke (null, new object[] { 1 }));
    }
}
