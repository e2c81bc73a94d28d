// mcs: -unsafe -nowarn:618 -r:System.Numerics -r:System.Numerics.Vectors -r:Mono.Simd
// timeout: 300
// Every method of the vector types of System.Numerics and Mono.Simd: called directly, by code made at run time, where it may be the processor's own, it gives the bits and the
// exceptions that the class library's code gives, which is reached by reflection. Random, special and boundary values; numbers as variables and as constants.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Reflection;
using System.Reflection.Emit;

static unsafe class Program
{
    delegate object Direct(object[] args);
    delegate object Boxer(IntPtr bytes);
    delegate void Unboxer(object value, IntPtr bytes);

    static readonly Random random = new Random(11);
    static readonly Dictionary<Type, Boxer> boxers = new Dictionary<Type, Boxer>();
    static readonly Dictionary<Type, Unboxer> unboxers = new Dictionary<Type, Unboxer>();
    static readonly float[] singles = { 0f, -0f, 1f, -1f, 0.5f, 1.5f, 2.5f, -2.5f, float.NaN, float.PositiveInfinity, float.NegativeInfinity, float.Epsilon, float.MaxValue, 1e10f, -3e9f, 2147483648f, 4294967296f, 1e-20f };
    static readonly long[] numbers = { 0, 1, -1, 2, 127, 128, 255, -128, 32767, 32768, 65535, -32768, int.MaxValue, int.MinValue, uint.MaxValue, long.MaxValue, long.MinValue };
    static readonly int[] amounts = { 0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 20, 31, 32, 33, 40, 63, 64, -1, -2, 255, 0x4e, 0x1b, int.MaxValue, int.MinValue };
    static readonly Type[] primitives = { typeof(byte), typeof(sbyte), typeof(ushort), typeof(short), typeof(uint), typeof(int), typeof(ulong), typeof(long), typeof(float), typeof(double) };

    static int Size(Type type)
    {
        if (type.Name == "Matrix4x4") return 64;
        if (type.Name == "Matrix3x2") return 24;
        return type.Name == "Vector3" ? 12 : type.Name == "Vector2" ? 8 : 16;
    }

    static bool IsVector(Type type)
    {
        return type.IsValueType && !type.IsEnum && (type.Namespace == "System.Numerics" || type.Namespace == "Mono.Simd");
    }

    static Type Lane(Type type)
    {
        if (type.IsGenericType) return type.GetGenericArguments()[0];
        if (type.Namespace == "System.Numerics" || type.Name == "Vector4f") return typeof(float);
        switch (type.Name)
        {
            case "Vector16b": return typeof(byte);
            case "Vector16sb": return typeof(sbyte);
            case "Vector8us": return typeof(ushort);
            case "Vector8s": return typeof(short);
            case "Vector4ui": return typeof(uint);
            case "Vector4i": return typeof(int);
            case "Vector2ul": return typeof(ulong);
            case "Vector2l": return typeof(long);
            default: return typeof(double);
        }
    }

    static object Primitive(Type type)
    {
        if (type == typeof(float)) return random.Next(2) == 0 ? singles[random.Next(singles.Length)] : (float)((random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-4, 6)));
        if (type == typeof(double)) return random.Next(2) == 0 ? singles[random.Next(singles.Length)] * 1.0000001 : (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-8, 9));
        long n = random.Next(2) == 0 ? numbers[random.Next(numbers.Length)] : (long)random.Next() << 40 ^ (long)random.Next() << 20 ^ random.Next();
        if (type == typeof(byte)) return (byte)n;
        if (type == typeof(sbyte)) return (sbyte)n;
        if (type == typeof(ushort)) return (ushort)n;
        if (type == typeof(short)) return (short)n;
        if (type == typeof(uint)) return (uint)n;
        if (type == typeof(int)) return random.Next(3) == 0 ? random.Next(-2, 20) : random.Next(2) == 0 ? amounts[random.Next(amounts.Length)] : (int)n;
        return type == typeof(ulong) ? (object)(ulong)n : n;
    }

    static object Vector(Type type)
    {
        Type lane = Lane(type);
        var elements = Array.CreateInstance(lane, Size(type) / Buffer.ByteLength(Array.CreateInstance(lane, 1)));
        for (int i = 0; i < elements.Length; i++) elements.SetValue(Primitive(lane), i);
        var bytes = new byte[Size(type)];
        Buffer.BlockCopy(elements, 0, bytes, 0, bytes.Length);
        fixed (byte* p = bytes) return Box(type, (IntPtr)p);
    }

    static object Box(Type type, IntPtr bytes)
    {
        Boxer boxer;
        if (!boxers.TryGetValue(type, out boxer))
        {
            var method = new DynamicMethod("box", typeof(object), new[] { typeof(IntPtr) }, typeof(Program), true);
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldobj, type);
            il.Emit(OpCodes.Box, type);
            il.Emit(OpCodes.Ret);
            boxers[type] = boxer = (Boxer)method.CreateDelegate(typeof(Boxer));
        }
        return boxer(bytes);
    }

    static byte[] Bytes(object value)
    {
        Type type = value.GetType();
        Unboxer unboxer;
        if (!unboxers.TryGetValue(type, out unboxer))
        {
            var method = new DynamicMethod("unbox", null, new[] { typeof(object), typeof(IntPtr) }, typeof(Program), true);
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Unbox_Any, type);
            il.Emit(OpCodes.Stobj, type);
            il.Emit(OpCodes.Ret);
            unboxers[type] = unboxer = (Unboxer)method.CreateDelegate(typeof(Unboxer));
        }
        var bytes = new byte[Size(type)];
        fixed (byte* p = bytes) unboxer(value, (IntPtr)p);
        return bytes;
    }

    static string Text(object value)
    {
        if (value == null) return "nothing";
        if (value is float) return BitConverter.ToString(BitConverter.GetBytes((float)value));
        if (value is double) return BitConverter.ToString(BitConverter.GetBytes((double)value));
        if (value is Array) return "[" + string.Join(" ", ((Array)value).Cast<object>().Select(Text)) + "]";
        return IsVector(value.GetType()) ? BitConverter.ToString(Bytes(value)) : value.ToString();
    }

    // The same lanes, other than that one NaN may stand for another. Masks have no NaN but all ones, which come from no arithmetic.
    static bool IsSame(object a, object b)
    {
        if (Text(a) == Text(b)) return true;
        if (a == null || b == null || a.GetType() != b.GetType()) return false;
        if (a is float) return float.IsNaN((float)a) && float.IsNaN((float)b);
        if (a is double) return double.IsNaN((double)a) && double.IsNaN((double)b);
        if (!IsVector(a.GetType())) return false;
        byte[] x = Bytes(a), y = Bytes(b);
        Type lane = Lane(a.GetType());
        if (lane == typeof(float))
            return Enumerable.Range(0, x.Length / 4).All(i => BitConverter.ToInt32(x, 4 * i) == BitConverter.ToInt32(y, 4 * i)
                || IsArithmeticNaN(BitConverter.ToSingle(x, 4 * i), BitConverter.ToInt32(x, 4 * i)) && IsArithmeticNaN(BitConverter.ToSingle(y, 4 * i), BitConverter.ToInt32(y, 4 * i)));
        return lane == typeof(double) && Enumerable.Range(0, x.Length / 8).All(i => BitConverter.ToInt64(x, 8 * i) == BitConverter.ToInt64(y, 8 * i)
            || double.IsNaN(BitConverter.ToDouble(x, 8 * i)) && double.IsNaN(BitConverter.ToDouble(y, 8 * i)) && BitConverter.ToInt64(x, 8 * i) != -1 && BitConverter.ToInt64(y, 8 * i) != -1);
    }

    static bool IsArithmeticNaN(float value, int bits) { return float.IsNaN(value) && bits != -1; }

    static bool IsSupported(Type type)
    {
        if (type.IsByRef) return IsVector(type.GetElementType());
        if (type.IsArray) return primitives.Contains(type.GetElementType());
        return IsVector(type) && type.Name != "Register" || primitives.Contains(type) || type.Name == "ShuffleSel";
    }

    static object Argument(Type type)
    {
        if (type.IsByRef) return Vector(type.GetElementType());
        if (type.IsEnum) return Enum.ToObject(type, random.Next(256));
        if (!type.IsArray) return IsVector(type) ? Vector(type) : Primitive(type);
        if (random.Next(20) == 0) return null;
        var array = Array.CreateInstance(type.GetElementType(), random.Next(40));
        for (int i = 0; i < array.Length; i++) array.SetValue(Primitive(type.GetElementType()), i);
        return array;
    }

    // Takes the arguments out of their boxes, calls the method, and puts back what it may have changed. Numbers of `constants` are in the code.
    static Direct Call(MethodBase method, Type[] types, object[] constants)
    {
        var made = new DynamicMethod("direct", typeof(object), new[] { typeof(object[]) }, typeof(Program), true);
        ILGenerator il = made.GetILGenerator();
        bool hasThis = !method.IsStatic && !(method is ConstructorInfo);
        var locals = types.Select(t => il.DeclareLocal(t.IsByRef ? t.GetElementType() : t)).ToArray();
        for (int i = 0; i < types.Length; i++)
        {
            if (IsConstant(types[i], constants)) continue;
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Ldelem_Ref);
            il.Emit(OpCodes.Unbox_Any, locals[i].LocalType);
            il.Emit(OpCodes.Stloc, locals[i]);
        }
        for (int i = 0; i < types.Length; i++)
        {
            if (IsConstant(types[i], constants)) il.Emit(OpCodes.Ldc_I4, Convert.ToInt32(constants[i]));
            else il.Emit(types[i].IsByRef || i == 0 && hasThis ? OpCodes.Ldloca : OpCodes.Ldloc, locals[i]);
        }
        Type result = method is ConstructorInfo ? method.DeclaringType : ((MethodInfo)method).ReturnType;
        if (method is ConstructorInfo) il.Emit(OpCodes.Newobj, (ConstructorInfo)method);
        else il.Emit(OpCodes.Call, (MethodInfo)method);
        if (result == typeof(void)) il.Emit(OpCodes.Ldnull);
        else if (result.IsValueType) il.Emit(OpCodes.Box, result);
        for (int i = 0; i < types.Length; i++)
        {
            if (!types[i].IsByRef && !(i == 0 && hasThis)) continue;
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Ldloc, locals[i]);
            il.Emit(OpCodes.Box, locals[i].LocalType);
            il.Emit(OpCodes.Stelem_Ref);
        }
        il.Emit(OpCodes.Ret);
        return (Direct)made.CreateDelegate(typeof(Direct));
    }

    static bool IsConstant(Type type, object[] constants) { return constants != null && (type == typeof(int) || type.IsEnum); }

    static object Outcome(Func<object> action)
    {
        try { return action(); }
        catch (TargetInvocationException e) { return e.InnerException.GetType().Name; }
        catch (Exception e) { return e.GetType().Name; }
    }

    static object Own(MethodBase method, object[] args)
    {
        if (method is ConstructorInfo) return ((ConstructorInfo)method).Invoke(args);
        if (method.IsStatic) return method.Invoke(null, args);
        object[] rest = args.Skip(1).ToArray();
        object result = method.Invoke(args[0], rest);
        rest.CopyTo(args, 1);
        return result;
    }

    static object[] Copies(object[] args)
    {
        return args.Select(a => a is Array ? ((Array)a).Clone() : a != null && IsVector(a.GetType()) ? Again(a) : a).ToArray();
    }

    static object Again(object vector)
    {
        fixed (byte* p = Bytes(vector)) return Box(vector.GetType(), (IntPtr)p);
    }

    static bool Check(MethodBase method, int rounds)
    {
        var types = method.GetParameters().Select(p => p.ParameterType).ToArray();
        if (!types.All(IsSupported)) return false;
        if (!method.IsStatic && !(method is ConstructorInfo)) types = new[] { method.DeclaringType }.Concat(types).ToArray();
        bool hasNumbers = types.Any(t => IsConstant(t, new object[0]));
        Direct direct = Call(method, types, null);
        for (int round = 0; round < rounds; round++)
        {
            object[] args = types.Select(Argument).ToArray();
            Compare(method, direct, args);
            if (hasNumbers && round % 2 == 0) Compare(method, Call(method, types, args), args);
        }
        return true;
    }

    static void Compare(MethodBase method, Direct direct, object[] args)
    {
        object[] left = Copies(args), right = Copies(args);
        object got = Outcome(() => direct(left)), wanted = Outcome(() => Own(method, right));
        bool isSame = IsSame(got, wanted);
        for (int i = 0; i < args.Length; i++) isSame &= IsSame(left[i], right[i]);
        if (isSame) return;
        Func<object[], string> all = values => string.Join(", ", values.Select(Text));
        throw new Exception(method.DeclaringType + " " + method + " of " + all(args) + ": " + Text(got) + " and not " + Text(wanted) + "; left " + all(left) + " and not " + all(right));
    }

    static void CheckType(Type type, int rounds)
    {
        const BindingFlags Members = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Static | BindingFlags.Instance | BindingFlags.DeclaredOnly;
        int count = 0;
        foreach (MethodBase method in type.GetMethods(Members).Cast<MethodBase>().Concat(type.GetConstructors()))
        {
            if (method.Name == "GetHashCode" || method.Name.StartsWith("Scalar") || method.Name == "InitializeCount") continue;
            if (!method.ContainsGenericParameters)
            {
                if (Check(method, rounds)) count++;
                continue;
            }
            foreach (Type lane in primitives)
                if (Check(((MethodInfo)method).MakeGenericMethod(lane), rounds)) count++;
        }
        string name = type.IsGenericType ? type.Name + " " + type.GetGenericArguments()[0].Name : type.Name;
        Console.WriteLine(name + (count > 3 ? "" : ": only " + count));
    }

    static void Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 12;
        foreach (Type lane in primitives) CheckType(typeof(Vector<>).MakeGenericType(lane), rounds);
        CheckType(typeof(Vector<byte>).Assembly.GetType("System.Numerics.Vector"), rounds / 3);
        Type[] numerics = { typeof(Vector2), typeof(Vector3), typeof(Vector4), typeof(Matrix3x2), typeof(Matrix4x4), typeof(Quaternion), typeof(Plane) };
        foreach (Type type in numerics) CheckType(type, rounds);
        Assembly simd = typeof(Mono.Simd.Vector4f).Assembly;
        foreach (Type type in simd.GetTypes().Where(t => t.Namespace == "Mono.Simd" && t.Name.StartsWith("Vector")).OrderBy(t => t.Name, StringComparer.Ordinal)) CheckType(type, rounds);
        CheckType(simd.GetType("Mono.Simd.ArrayExtensions"), rounds);
        Mono.Simd.AccelMode direct = Mono.Simd.SimdRuntime.AccelMode, told = (Mono.Simd.AccelMode)typeof(Mono.Simd.SimdRuntime).GetProperty("AccelMode").GetValue(null, null);
        Console.WriteLine("AccelMode " + (direct == told));
        bool isAccelerated = Mono.Simd.SimdRuntime.IsMethodAccelerated(typeof(Mono.Simd.Vector4f), "op_Addition");
        Console.WriteLine("op_Addition " + (isAccelerated == (direct != Mono.Simd.AccelMode.None)));
    }
}
