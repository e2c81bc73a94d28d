// mcs: -r:System.Numerics -r:System.Numerics.Vectors
// To native code vectors are structs of floats, whatever managed calls make of them: functions of the C library take and give a Vector2 as a complex number, a callback gets vectors by
// value in registers and on the stack and returns one in two registers, one in one, and one in part of one.
using System;
using System.Linq;
using System.Numerics;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport("libm.so.6")] static extern Vector2 conjf(Vector2 z);
    [DllImport("libm.so.6")] static extern float cabsf(Vector2 z);

    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate Vector4 Four(Vector4 a, Vector3 b, int n, Vector2 c, double d, Vector4 e, Vector4 f, Vector3 g);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate Vector3 Three(Vector2 a, Vector3 b);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate Vector2 Two(Vector2 a, float b);

    // Calls the delegate's native entry as C would.
    static object Call(Delegate target, params object[] arguments)
    {
        var invoke = target.GetType().GetMethod("Invoke");
        var types = invoke.GetParameters().Select(p => p.ParameterType).ToArray();
        var method = new DynamicMethod("native", invoke.ReturnType, new[] { typeof(IntPtr) }.Concat(types).ToArray(), typeof(Program).Module);
        var il = method.GetILGenerator();
        for (int i = 1; i <= types.Length; i++) il.Emit(OpCodes.Ldarg, (short)i);
        il.Emit(OpCodes.Ldarg_0);
        il.EmitCalli(OpCodes.Calli, CallingConvention.Cdecl, invoke.ReturnType, types);
        il.Emit(OpCodes.Ret);
        object result = method.Invoke(null, new object[] { Marshal.GetFunctionPointerForDelegate(target) }.Concat(arguments).ToArray());
        GC.KeepAlive(target);
        return result;
    }

    static void Main()
    {
        Console.WriteLine(conjf(new Vector2(3, 4)));
        Console.WriteLine(cabsf(conjf(new Vector2(3, 4)) * 2));
        var v = new Vector4(1, 2, 3, 4);
        Four four = (a, b, n, c, d, e, f, g) => a * n + new Vector4(b, (float)d) + new Vector4(c, 0, 0) + e - f + new Vector4(g, 0);
        Console.WriteLine(Call(four, v, new Vector3(10, 20, 30), 3, new Vector2(100, 200), 0.5, v * 1000, v * 100, new Vector3(0.25f)));
        Three three = (a, b) => { GC.Collect(); return new Vector3(a, 5) * b; };
        Console.WriteLine(Call(three, new Vector2(2, 3), new Vector3(7, 8, 9)));
        Two two = (a, b) => a / b;
        Console.WriteLine(Call(two, new Vector2(2, 3), 4f));
    }
}
