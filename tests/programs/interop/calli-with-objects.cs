// `calli` of native code converts strings, builders, delegates and arrays as a P/Invoke does.
using System;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Text;

static class Program {
    [DllImport ("libc")] static extern IntPtr dlsym (IntPtr library, string name);

    [UnmanagedFunctionPointer (CallingConvention.Cdecl)]
    public delegate int Compare (IntPtr a, IntPtr b);

    static T Call<T> (string function, Type result, params Type[] parameters)
    {
        var method = new DynamicMethod ("Call", result, parameters, typeof (Program));
        var il = method.GetILGenerator ();
        for (int i = 0; i < parameters.Length; i++)
            il.Emit (OpCodes.Ldarg, i);
        il.Emit (OpCodes.Ldc_I8, (long) dlsym (IntPtr.Zero, function));
        il.Emit (OpCodes.Conv_I);
        il.EmitCalli (OpCodes.Calli, CallingConvention.Cdecl, result, parameters);
        il.Emit (OpCodes.Ret);
        return (T) (object) method.CreateDelegate (typeof (T));
    }

    static void Main ()
    {
        var length = Call<Func<string, IntPtr>> ("strlen", typeof (IntPtr), typeof (string));
        Console.WriteLine (length ("seven!!"));
        Console.WriteLine (length ("h\u00e9"));
        var twin = Call<Func<string, string>> ("strdup", typeof (string), typeof (string));
        Console.WriteLine (twin ("copied and freed"));
        var copy = Call<Func<StringBuilder, string, IntPtr>> ("strcpy", typeof (IntPtr), typeof (StringBuilder), typeof (string));
        var builder = new StringBuilder (20);
        copy (builder, "into a builder");
        Console.WriteLine (builder);
        var sort = Call<Action<int[], IntPtr, IntPtr, Compare>> ("qsort", typeof (void), typeof (int[]), typeof (IntPtr), typeof (IntPtr), typeof (Compare));
        var numbers = new [] { 3, 1, 2 };
        sort (numbers, (IntPtr) numbers.Length, (IntPtr) 4, (a, b) => Marshal.ReadInt32 (a).CompareTo (Marshal.ReadInt32 (b)));
        Console.WriteLine (string.Join (" ", numbers));
        var absolute = Call<Func<int, int>> ("abs", typeof (int), typeof (int));
        Console.WriteLine (absolute (-5));
    }
}
