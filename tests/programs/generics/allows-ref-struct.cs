// Generic parameters that allow ref structs (flag 0x20, `allows ref struct` in C# 13, which no assembler here writes):
// what they allow, and what stays forbidden for a ref struct. As in .NET 9.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public interface IValue { int Value(); }
public ref struct Slice { public int A, B; public Slice(int a) { A = a; B = 2 * a; } public override string ToString() => "Slice " + A; }
public ref struct Plain { public int A; }

static class Program
{
    const GenericParameterAttributes Allows = (GenericParameterAttributes)0x20;
    static ModuleBuilder s_module;
    static int s_types;
    static Type s_valued;
    static readonly ConstructorInfo Construct = typeof(Slice).GetConstructor(new[] { typeof(int) });
    static readonly FieldInfo FieldA = typeof(Slice).GetField("A");

    static TypeBuilder Define(TypeAttributes attributes = TypeAttributes.Public, Type parent = null) =>
        s_module.DefineType("T" + s_types++, attributes, parent ?? typeof(object));

    // A static method `generic<T>`, made by `emit`.
    static MethodInfo Generic(bool allows, Func<Type, Type> result, Func<Type, Type[]> parameters, Action<ILGenerator, Type> emit)
    {
        var type = Define();
        var method = type.DefineMethod("generic", MethodAttributes.Public | MethodAttributes.Static);
        var parameter = method.DefineGenericParameters("T")[0];
        if (allows)
        {
            parameter.SetGenericParameterAttributes(Allows);
        }
        method.SetReturnType(result(parameter));
        method.SetParameters(parameters(parameter));
        emit(method.GetILGenerator(), parameter);
        return type.CreateType().GetMethod("generic");
    }

    // Runs `emit` as the body of a method that returns an object.
    static void Try(string what, Action<ILGenerator> emit)
    {
        try
        {
            var type = Define();
            emit(type.DefineMethod("run", MethodAttributes.Public | MethodAttributes.Static, typeof(object), Type.EmptyTypes).GetILGenerator());
            var run = (Func<object>)type.CreateType().GetMethod("run").CreateDelegate(typeof(Func<object>));
            Console.WriteLine($"{what}: {run() ?? "null"}");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{what}: {e.GetType().Name}");
        }
    }

    static void NewSlice(ILGenerator il, int a)
    {
        il.Emit(OpCodes.Ldc_I4, a);
        il.Emit(OpCodes.Newobj, Construct);
    }

    // `generic<argument>(default)` of a method that gives an int.
    static void Call(string what, MethodInfo generic, Type argument) => Try(what, il =>
    {
        var local = il.DeclareLocal(argument);
        il.Emit(OpCodes.Ldloc, local);
        il.Emit(OpCodes.Call, generic.MakeGenericMethod(argument));
        il.Emit(OpCodes.Box, typeof(int));
        il.Emit(OpCodes.Ret);
    });

    static MethodInfo OfInt(Action<ILGenerator, Type> emit, bool allows = true) =>
        Generic(allows, t => typeof(int), t => new[] { t }, (il, t) => { emit(il, t); il.Emit(OpCodes.Ret); });

    // The number that `emit` branches on: 1 if the branch is taken.
    static MethodInfo Branch(Action<ILGenerator, Type> emit) => OfInt((il, t) =>
    {
        var taken = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Box, t);
        emit(il, t);
        il.Emit(OpCodes.Brtrue, taken);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ret);
        il.MarkLabel(taken);
        il.Emit(OpCodes.Ldc_I4_1);
    });

    static Type Holder(bool isStruct, bool isByRefLike, bool isStatic)
    {
        var type = isStruct
            ? Define(TypeAttributes.Public | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof(ValueType))
            : Define();
        var parameter = type.DefineGenericParameters("T")[0];
        parameter.SetGenericParameterAttributes(Allows);
        if (isByRefLike)
        {
            type.SetCustomAttribute(new CustomAttributeBuilder(typeof(IsByRefLikeAttribute).GetConstructor(Type.EmptyTypes), new object[0]));
        }
        type.DefineField("Item", parameter, FieldAttributes.Public | (isStatic ? FieldAttributes.Static : 0));
        return type.CreateType();
    }

    static void SizeOf(string what, Type generic, Type argument) => Try(what, il =>
    {
        il.Emit(OpCodes.Sizeof, generic.MakeGenericType(argument));
        il.Emit(OpCodes.Box, typeof(int));
        il.Emit(OpCodes.Ret);
    });

    static void Main()
    {
        var assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.Run);
        s_module = assembly.DefineDynamicModule("Emitted");

        var valued = Define(TypeAttributes.Public | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof(ValueType));
        valued.SetCustomAttribute(new CustomAttributeBuilder(typeof(IsByRefLikeAttribute).GetConstructor(Type.EmptyTypes), new object[0]));
        valued.AddInterfaceImplementation(typeof(IValue));
        valued.DefineField("A", typeof(int), FieldAttributes.Public);
        var value = valued.DefineMethod("Value", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.NewSlot | MethodAttributes.Final, typeof(int), Type.EmptyTypes);
        value.GetILGenerator().Emit(OpCodes.Ldc_I4, 42);
        value.GetILGenerator().Emit(OpCodes.Ret);
        s_valued = valued.CreateType();

        Func<Type, Type> itself = t => t;
        var identity = Generic(true, itself, t => new[] { t }, (il, t) => { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ret); });
        var notAllowing = Generic(false, itself, t => new[] { t }, (il, t) => { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ret); });
        foreach (var method in new[] { identity, notAllowing })
        {
            Try(method == identity ? "identity" : "not allowing", il =>
            {
                var local = il.DeclareLocal(typeof(Slice));
                NewSlice(il, 5);
                il.Emit(OpCodes.Call, method.MakeGenericMethod(typeof(Slice)));
                il.Emit(OpCodes.Stloc, local);
                il.Emit(OpCodes.Ldloca, local);
                il.Emit(OpCodes.Ldfld, FieldA);
                il.Emit(OpCodes.Box, typeof(int));
                il.Emit(OpCodes.Ret);
            });
        }
        var size = OfInt((il, t) => il.Emit(OpCodes.Sizeof, t));
        Call("size of Slice", size, typeof(Slice));
        Call("size of int", size, typeof(int));

        SizeOf("class", Holder(false, false, false), typeof(int));
        SizeOf("struct of int", Holder(true, false, false), typeof(int));
        SizeOf("ref struct of Slice", Holder(true, true, false), typeof(Slice));
        SizeOf("struct of Slice", Holder(true, false, false), typeof(Slice));
        SizeOf("class of Slice", Holder(false, false, false), typeof(Slice));
        var holder = Holder(true, true, true);
        Try("static of Slice", il =>
        {
            il.Emit(OpCodes.Ldsflda, holder.MakeGenericType(typeof(Slice)).GetField("Item"));
            il.Emit(OpCodes.Initobj, typeof(Slice));
            il.Emit(OpCodes.Ldnull);
            il.Emit(OpCodes.Ret);
        });

        Call("box", OfInt((il, t) => { il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Box, t); il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldc_I4_1); }), typeof(Slice));
        Call("array", OfInt((il, t) => { il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Newarr, t); il.Emit(OpCodes.Ldlen); il.Emit(OpCodes.Conv_I4); }), typeof(Slice));
        Call("box, branch", Branch((il, t) => { }), typeof(Slice));
        Call("box, isinst IValue, branch", Branch((il, t) => il.Emit(OpCodes.Isinst, typeof(IValue))), typeof(Slice));
        Call("box, isinst IValue, branch, implemented", Branch((il, t) => il.Emit(OpCodes.Isinst, typeof(IValue))), s_valued);
        Call("box, isinst int, branch", Branch((il, t) => il.Emit(OpCodes.Isinst, typeof(int))), typeof(Slice));
        Call("box, unbox.any", OfInt((il, t) =>
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Box, t);
            il.Emit(OpCodes.Unbox_Any, t);
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Ldc_I4_1);
        }), typeof(Slice));
        Call("box, isinst, unbox.any", OfInt((il, t) =>
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Box, t);
            il.Emit(OpCodes.Isinst, t);
            il.Emit(OpCodes.Unbox_Any, t);
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Ldc_I4_1);
        }), typeof(Slice));

        Action<ILGenerator, Type, MethodInfo> constrained = (il, t, method) =>
        {
            il.Emit(OpCodes.Ldarga, 0);
            il.Emit(OpCodes.Constrained, t);
            il.Emit(OpCodes.Callvirt, method);
        };
        Call("constrained, implemented", OfInt((il, t) => constrained(il, t, typeof(IValue).GetMethod("Value"))), s_valued);
        Action<ILGenerator, Type> length = (il, t) =>
        {
            constrained(il, t, typeof(object).GetMethod("ToString"));
            il.Emit(OpCodes.Callvirt, typeof(string).GetMethod("get_Length"));
        };
        Call("constrained, overridden", OfInt(length), typeof(Slice));
        Call("constrained, inherited", OfInt(length), typeof(Plain));
        Call("constrained, not implemented", OfInt((il, t) => constrained(il, t, typeof(IValue).GetMethod("Value"))), typeof(Slice));
    }
}
