// env: DOTNET_EnableAVX=0
// timeout: 120
// stress: skip two hundred methods on all types of elements, each by reflection: ten minutes
// Each method of Vector128, of Vector and of their vectors, for all types of elements on made-up cases: called in code
// made at run time, where it may be the processor's operation, and by reflection, where it is the class library's. A
// line has the bits of all results of the methods of a name.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;

static unsafe class VectorMethods
{
    const int Slot = 64, MaxArguments = 17, Cases = 24;
    static readonly Type[] Elements = { typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(int), typeof(uint), typeof(long), typeof(ulong), typeof(nint), typeof(nuint), typeof(float), typeof(double) };
    // What differs between processors, or leaves lanes open.
    static readonly HashSet<string> LeftOut = new() { "CreateScalarUnsafe", "AsVector128Unsafe", "AsVector3Unsafe", "AsVector4Unsafe", "ToVector256Unsafe", "MultiplyAddEstimate", "ConvertToInt32Native", "ConvertToInt64Native", "ConvertToUInt32Native", "ConvertToUInt64Native", "Sin", "Cos", "SinCos", "Exp", "Log", "Log2", "Lerp", "Hypot", "ShuffleNative", "Asin", "LoadAligned", "LoadAlignedNonTemporal", "StoreAligned", "StoreAlignedNonTemporal", "GetHashCode", "ReciprocalEstimate", "ReciprocalSqrtEstimate" };

    delegate void Call(nint arguments, nint result);

    static ulong state = 88172645463325252;
    static ulong Next() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }

    static readonly double[] Numbers = { 0, -0.0, 1, -1, double.NaN, double.PositiveInfinity, double.NegativeInfinity, 0.5, 1.5, 2.5, -2.5, -0.5, 3e9, -3e9, 1e19, -1e19, double.MaxValue, double.Epsilon, 127, 128, 255, 256, 32768, 65536, 2147483647, 4294967295, 1e-40, 100.25 };
    static readonly long[] Integers = { 0, 1, -1, 2, 127, -128, 128, 255, 32767, -32768, 65535, int.MaxValue, int.MinValue, uint.MaxValue, long.MaxValue, long.MinValue, 15, 16, 7, 3 };

    // A lane: one of the numbers with corners, or any bits.
    static void Lane(byte* to, Type element)
    {
        bool any = Next() % 3 == 0;
        if (element == typeof(float)) *(float*)to = any ? BitConverter.Int32BitsToSingle((int)Next()) : (float)Numbers[Next() % (ulong)Numbers.Length];
        else if (element == typeof(double)) *(double*)to = any ? BitConverter.Int64BitsToDouble((long)Next()) : Numbers[Next() % (ulong)Numbers.Length];
        else
        {
            long number = any ? (long)Next() : Integers[Next() % (ulong)Integers.Length];
            Buffer.MemoryCopy(&number, to, 8, SizeOf(element));
        }
    }

    static int SizeOf(Type type) => (int)typeof(Unsafe).GetMethod("SizeOf").MakeGenericMethod(type).Invoke(null, null);

    static Type ElementOf(Type vector) => vector.IsGenericType ? vector.GetGenericArguments()[0] : vector == typeof(Vector2) || vector == typeof(Vector3) || vector == typeof(Vector4) ? typeof(float) : vector;

    static bool IsVector(Type type) => type.IsValueType && (type.IsGenericType && type.Name.StartsWith("Vector") || type == typeof(Vector2) || type == typeof(Vector3) || type == typeof(Vector4));

    static bool IsKnown(Type type) => !type.IsByRefLike && (IsVector(type) || type.IsPrimitive || type.IsEnum || (type.IsByRef || type.IsPointer) && IsKnown(type.GetElementType()));

    static bool IsResult(Type type) => type == typeof(void) || IsKnown(type) || type.IsGenericType && type.Name.StartsWith("ValueTuple");

    static void Argument(byte* to, Type type, string method, string name)
    {
        if (type.IsByRef || type.IsPointer) { for (int i = 0; i < Slot; i += SizeOf(ElementOf(type.GetElementType()))) Lane(to + i, ElementOf(type.GetElementType())); }
        else if (name == "index") *(long*)to = (long)(Next() % 2);
        else if (name == "elementOffset") *(long*)to = (long)(Next() % 3);
        else if (name == "shiftCount") *(long*)to = (long)(Next() % 140) - 5;
        else if (name == "mode" || type.IsEnum) *(long*)to = (long)(Next() % 5);
        else if (name == "indices" || method == "Shuffle" && name == "right") { int size = SizeOf(ElementOf(type)); for (int i = 0; i < 16; i += size) { long number = (long)(Next() % (ulong)(16 / size + 2)) - (Next() % 9 == 0 ? 2 : 0); if (ElementOf(type) == typeof(float)) *(float*)(to + i) = number; else Buffer.MemoryCopy(&number, to + i, 8, size); } }
        else for (int i = 0; i < SizeOf(type); i += SizeOf(ElementOf(type))) Lane(to + i, ElementOf(type));
    }

    static Call Compile(MethodInfo method, Type[] parameters)
    {
        var code = new DynamicMethod("call", null, new[] { typeof(nint), typeof(nint) }, typeof(VectorMethods).Module, true);
        var il = code.GetILGenerator();
        if (method.ReturnType != typeof(void)) il.Emit(OpCodes.Ldarg_1);
        for (int i = 0; i < parameters.Length; i++)
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i * Slot);
            il.Emit(OpCodes.Add);
            if (!parameters[i].IsByRef && !parameters[i].IsPointer) il.Emit(OpCodes.Ldobj, parameters[i]);
        }
        il.Emit(OpCodes.Call, method);
        if (method.ReturnType != typeof(void)) il.Emit(OpCodes.Stobj, method.ReturnType);
        il.Emit(OpCodes.Ret);
        return code.CreateDelegate<Call>();
    }

    // NaN is one number, whatever its bits.
    static ulong Hash(ulong hash, byte* bytes, int count, Type element)
    {
        for (int i = 0; i < count; i++)
        {
            byte b = bytes[i];
            if (element == typeof(float) && float.IsNaN(*(float*)(bytes + i / 4 * 4))) b = 0x7e;
            if (element == typeof(double) && double.IsNaN(*(double*)(bytes + i / 8 * 8))) b = 0x7e;
            hash = (hash ^ b) * 1099511628211;
        }
        return hash;
    }

    static ulong Result(ulong hash, byte* result, Type type, byte* arguments, Type[] parameters)
    {
        if (type.IsGenericType && type.Name.StartsWith("ValueTuple")) hash = Hash(hash, result, SizeOf(type), ElementOf(type.GetGenericArguments()[0]));
        else if (type != typeof(void)) hash = Hash(hash, result, SizeOf(type), ElementOf(type));
        for (int i = 0; i < parameters.Length; i++)
            if (parameters[i].IsByRef || parameters[i].IsPointer) hash = Hash(hash, arguments + i * Slot, Slot, ElementOf(parameters[i].GetElementType()));
        return hash;
    }

    // The same call by reflection, which reaches the method's own body.
    static bool Reflected(MethodInfo method, Type[] parameters, byte* arguments, byte* result)
    {
        var objects = new object[parameters.Length];
        for (int i = 0; i < parameters.Length; i++)
            objects[i] = parameters[i].IsPointer ? Pointer.Box(arguments + i * Slot, parameters[i]) : Read.MakeGenericMethod(parameters[i].IsByRef ? parameters[i].GetElementType() : parameters[i]).Invoke(null, new object[] { (nint)(arguments + i * Slot) });
        object value = method.Invoke(null, objects);
        if (value != null) Write.MakeGenericMethod(method.ReturnType).Invoke(null, new object[] { (nint)result, value });
        return true;
    }

    static readonly MethodInfo Read = typeof(VectorMethods).GetMethod("ReadFrom", BindingFlags.Static | BindingFlags.NonPublic), Write = typeof(VectorMethods).GetMethod("WriteTo", BindingFlags.Static | BindingFlags.NonPublic);
    static T ReadFrom<T>(nint from) => Unsafe.ReadUnaligned<T>((void*)from);
    static void WriteTo<T>(nint to, T value) => Unsafe.WriteUnaligned((void*)to, value);

    static readonly SortedDictionary<string, (ulong hash, int methods)> lines = new(StringComparer.Ordinal);
    static int differences;

    static void Check(string name, MethodInfo method)
    {
        Type[] parameters = method.GetParameters().Select(p => p.ParameterType).ToArray();
        string[] names = method.GetParameters().Select(p => p.Name).ToArray();
        if (!parameters.All(IsKnown) || !IsResult(method.ReturnType) || parameters.Length > MaxArguments) return;
        Call call = Compile(method, parameters);
        byte* arguments = (byte*)NativeMemory.AlignedAlloc(Slot * (MaxArguments + 1), 64), saved = (byte*)NativeMemory.AlignedAlloc(Slot * (MaxArguments + 1), 64), result = (byte*)NativeMemory.AlignedAlloc(4 * Slot, 64);
        lines.TryGetValue(name, out var line);
        if (line.methods == 0) line.hash = 14695981039346656037;
        bool isByReference = parameters.Any(p => p.IsByRef);
        for (int round = 0; round < Cases; round++)
        {
            NativeMemory.Clear(arguments, (nuint)(Slot * (MaxArguments + 1)));
            NativeMemory.Clear(result, 4 * Slot);
            for (int i = 0; i < parameters.Length; i++) Argument(arguments + i * Slot, parameters[i], method.Name, names[i]);
            Buffer.MemoryCopy(arguments, saved, Slot * (MaxArguments + 1), Slot * (MaxArguments + 1));
            string thrown = null;
            ulong hash = 0;
            try { call((nint)arguments, (nint)result); hash = Result(1, result, method.ReturnType, arguments, parameters); }
            catch (Exception e) { thrown = e.GetType().Name; foreach (char c in thrown) hash = hash * 31 + c; }
            line.hash = (line.hash ^ hash) * 1099511628211;
            if (isByReference || round >= 4) continue;
            NativeMemory.Clear(result, 4 * Slot);
            Buffer.MemoryCopy(saved, arguments, Slot * (MaxArguments + 1), Slot * (MaxArguments + 1));
            string thrownByOther = null;
            try { Reflected(method, parameters, arguments, result); if (thrown == null && Result(1, result, method.ReturnType, arguments, parameters) != hash) thrownByOther = "other result"; }
            catch (TargetInvocationException e) { thrownByOther = e.InnerException.GetType().Name; }
            if (thrown != thrownByOther && differences++ < 20) Console.WriteLine("by reflection: " + method + " " + (thrown ?? "result") + " " + thrownByOther);
        }
        line.methods++;
        lines[name] = line;
        NativeMemory.AlignedFree(arguments);
        NativeMemory.AlignedFree(saved);
        NativeMemory.AlignedFree(result);
    }

    static void Methods(string prefix, Type type)
    {
        foreach (var method in type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly).OrderBy(m => m.ToString(), StringComparer.Ordinal))
        {
            if (LeftOut.Contains(method.Name) || method.Name == "get_IsHardwareAccelerated") continue;
            state = 88172645463325252;
            if (!method.IsGenericMethodDefinition) { Check(prefix + method.Name, method); continue; }
            int count = method.GetGenericArguments().Length;
            foreach (Type element in Elements)
            {
                if (count == 1) Check(prefix + method.Name, method.MakeGenericMethod(element));
                else foreach (Type other in new[] { typeof(byte), typeof(uint), typeof(long), typeof(float), typeof(nint) }) Check(prefix + method.Name, method.MakeGenericMethod(element, other));
            }
        }
    }

    static void Main(string[] args)
    {
        Console.WriteLine(Vector128.IsHardwareAccelerated + " " + Vector.IsHardwareAccelerated + " " + Vector64.IsHardwareAccelerated);
        Methods("Vector128.", typeof(Vector128));
        Methods("Vector.", typeof(Vector));
        foreach (Type element in Elements) Methods("Vector128<T>.", typeof(Vector128<>).MakeGenericType(element));
        foreach (Type element in Elements) if (Vector<byte>.Count == 16) Methods("Vector<T>.", typeof(Vector<>).MakeGenericType(element));
        foreach (var line in lines) Console.WriteLine(line.Key + ": " + line.Value.methods + " " + line.Value.hash.ToString("x16"));
    }
}
