// DynamicMethod and AssemblyBuilder: arithmetic, closures, branches, exceptions, access to private members, whole types, generic ones among them.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;

public interface IGreeter { string Greet(string name); }

static class Test
{
    static string secret = "private";

    static void Main()
    {
        var add = new DynamicMethod("Add", typeof(int), [typeof(int), typeof(int)]);
        ILGenerator il = add.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        Console.WriteLine(add.CreateDelegate<Func<int, int, int>>()(40, 2) + " " + add.Invoke(null, [1, 2]));

        var peek = new DynamicMethod("Peek", typeof(string), Type.EmptyTypes, typeof(Test), true);
        il = peek.GetILGenerator();
        il.Emit(OpCodes.Ldsfld, typeof(Test).GetField("secret", BindingFlags.Static | BindingFlags.NonPublic));
        il.Emit(OpCodes.Ret);
        Console.WriteLine(peek.CreateDelegate<Func<string>>()());

        var bound = new DynamicMethod("Bound", typeof(int), [typeof(List<int>), typeof(int)]);
        il = bound.GetILGenerator();
        LocalBuilder total = il.DeclareLocal(typeof(int));
        Label again = il.DefineLabel(), done = il.DefineLabel();
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Brfalse, done);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Callvirt, typeof(List<int>).GetMethod("Add"));
        il.Emit(OpCodes.Ldloc, total);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, total);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Starg_S, (byte)1);
        il.Emit(OpCodes.Br, again);
        il.MarkLabel(done);
        il.Emit(OpCodes.Ldloc, total);
        il.Emit(OpCodes.Ret);
        var list = new List<int>();
        var sum = (Func<int, int>)bound.CreateDelegate(typeof(Func<int, int>), list);
        Console.WriteLine(sum(4) + " " + string.Join(",", list));

        var catches = new DynamicMethod("Catches", typeof(string), [typeof(string)]);
        il = catches.GetILGenerator();
        LocalBuilder text = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString"));
        il.Emit(OpCodes.Stloc, text);
        il.BeginCatchBlock(typeof(NullReferenceException));
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldstr, "was null");
        il.Emit(OpCodes.Stloc, text);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, text);
        il.Emit(OpCodes.Ret);
        var caught = catches.CreateDelegate<Func<string, string>>();
        Console.WriteLine(caught("text") + " " + caught(null));

        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Made"), AssemblyBuilderAccess.Run);
        ModuleBuilder module = assembly.DefineDynamicModule("Made");
        TypeBuilder type = module.DefineType("Greeter", TypeAttributes.Public, typeof(object), [typeof(IGreeter)]);
        FieldBuilder word = type.DefineField("word", typeof(string), FieldAttributes.Private);
        ConstructorBuilder constructor = type.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, [typeof(string)]);
        il = constructor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Stfld, word);
        il.Emit(OpCodes.Ret);
        MethodBuilder greet = type.DefineMethod("Greet", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), [typeof(string)]);
        il = greet.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldfld, word);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", [typeof(string), typeof(string)]));
        il.Emit(OpCodes.Ret);
        Type made = type.CreateType();
        Console.WriteLine(((IGreeter)Activator.CreateInstance(made, "hello, ")).Greet("builder") + " " + made.Assembly.GetName().Name + " " + made.Assembly.IsDynamic);

        TypeBuilder box = module.DefineType("Box`1", TypeAttributes.Public);
        Type t = box.DefineGenericParameters("T")[0];
        box.DefineField("Value", t, FieldAttributes.Public);
        Type closed = box.CreateType().MakeGenericType(typeof(int));
        object instance = Activator.CreateInstance(closed);
        closed.GetField("Value").SetValue(instance, 9);
        Console.WriteLine(closed.GetField("Value").GetValue(instance) + " " + closed);
        try { type.DefineField("late", typeof(int), FieldAttributes.Public); } catch (InvalidOperationException e) { Console.WriteLine(e.GetType().Name); }
    }
}
