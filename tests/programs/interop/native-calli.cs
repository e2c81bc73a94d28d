// calli of native code: an array of plain elements is passed as the address of its first one, and stays where it is during the call.
using System;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport ("libc")] static extern IntPtr dlsym (IntPtr library, string name);

    delegate int Sort (IntPtr function, int[] numbers, IntPtr count, IntPtr size, IntPtr compare);
    delegate long Labs (IntPtr function, int[] numbers);
    delegate int Compare (ref int a, ref int b);

    static Delegate Caller (Type type, Type result, params Type[] parameters)
    {
        var invoke = type.GetMethod ("Invoke");
        var all = Array.ConvertAll (invoke.GetParameters (), p => p.ParameterType);
        var method = new DynamicMethod ("call", invoke.ReturnType, all);
        var il = method.GetILGenerator ();
        for (int i = 1; i <= parameters.Length; i++)
            il.Emit (OpCodes.Ldarg, i);
        il.Emit (OpCodes.Ldarg_0);
        il.EmitCalli (OpCodes.Calli, CallingConvention.Cdecl, result, parameters);
        if (result == typeof (void))
            il.Emit (OpCodes.Ldc_I4_0);
        il.Emit (OpCodes.Ret);
        return method.CreateDelegate (type);
    }

    static void Main ()
    {
        var sort = (Sort) Caller (typeof (Sort), typeof (void), typeof (int[]), typeof (IntPtr), typeof (IntPtr), typeof (IntPtr));
        var numbers = new int[1000];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = (i * 7919) % 1000;
        int calls = 0;
        Compare compare = (ref int a, ref int b) => {
            if (calls++ % 500 == 0)
                GC.Collect ();
            return a - b;
        };
        sort (dlsym (IntPtr.Zero, "qsort"), numbers, (IntPtr) numbers.Length, (IntPtr) 4, Marshal.GetFunctionPointerForDelegate (compare));
        GC.KeepAlive (compare);
        bool isSorted = true;
        for (int i = 0; i < numbers.Length; i++)
            isSorted &= numbers[i] == i;
        Console.WriteLine (isSorted);

        var labs = (Labs) Caller (typeof (Labs), typeof (long), typeof (int[]));
        IntPtr function = dlsym (IntPtr.Zero, "labs");
        Console.WriteLine ("{0} {1}", labs (function, null), labs (function, new int[3]) != 0);
    }
}
