// Reflection.Emit: a whole assembly run from memory and, saved, from its file.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public interface IShape { double Area(); string Name { get; } event EventHandler Changed; }

[AttributeUsage(AttributeTargets.All, AllowMultiple = true)]
public class NoteAttribute : Attribute
{
    public NoteAttribute(string text, Type type, int[] numbers, object any) { Text = text; Type = type; Numbers = numbers; Any = any; }
    public string Text; public Type Type; public int[] Numbers; public object Any;
    public DayOfWeek Day { get; set; }
    public string[] Names;
    public override string ToString()
    {
        return string.Format("{0}|{1}|{2}|{3}|{4}|{5}", Text, Type, Numbers == null ? "null" : string.Join(",", Numbers), Any, Day, Names == null ? "null" : string.Join(",", Names));
    }
}

static class Program
{
    const MethodAttributes Virtual = MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.HideBySig | MethodAttributes.NewSlot;
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;

    static CustomAttributeBuilder Note(string text)
    {
        Type note = typeof(NoteAttribute);
        return new CustomAttributeBuilder(note.GetConstructors()[0], new object[] { text, typeof(Dictionary<string, int>), new[] { 1, 2, 3 }, DayOfWeek.Monday },
            new[] { note.GetProperty("Day") }, new object[] { DayOfWeek.Friday }, new[] { note.GetField("Names") }, new object[] { new[] { "a", null, "c" } });
    }

    // enum Colour : byte { Red = 1, Blue = 4 }
    static Type Colour(ModuleBuilder module)
    {
        EnumBuilder colour = module.DefineEnum("My.Colour", TypeAttributes.Public, typeof(byte));
        colour.DefineLiteral("Red", (byte)1);
        colour.DefineLiteral("Blue", (byte)4);
        colour.SetCustomAttribute(new CustomAttributeBuilder(typeof(FlagsAttribute).GetConstructor(Type.EmptyTypes), new object[0]));
        return colour.CreateType();
    }

    // struct Pair<A, B> where B : class { A first; B second; static Pair<B2, A2>... }
    static TypeBuilder Pair(ModuleBuilder module, out ConstructorBuilder constructor, out MethodBuilder swap)
    {
        TypeBuilder pair = module.DefineType("My.Pair`2", TypeAttributes.Public | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof(ValueType));
        GenericTypeParameterBuilder[] parameters = pair.DefineGenericParameters("A", "B");
        FieldBuilder first = pair.DefineField("First", parameters[0], FieldAttributes.Public);
        FieldBuilder second = pair.DefineField("Second", parameters[1], FieldAttributes.Public);
        constructor = pair.DefineConstructor(MethodAttributes.Public, CallingConventions.HasThis, new Type[] { parameters[0], parameters[1] });
        constructor.DefineParameter(1, ParameterAttributes.None, "first");
        ILGenerator il = constructor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, first);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_2); il.Emit(OpCodes.Stfld, second);
        il.Emit(OpCodes.Ret);
        Type swapped = pair.MakeGenericType(parameters[1], parameters[0]);
        swap = pair.DefineMethod("Swap", MethodAttributes.Public, swapped, Type.EmptyTypes);
        il = swap.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, second);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, first);
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(swapped, constructor));
        il.Emit(OpCodes.Ret);
        MethodBuilder text = pair.DefineMethod("ToString", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), Type.EmptyTypes);
        il = text.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "<{0};{1}>");
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, first); il.Emit(OpCodes.Box, parameters[0]);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, second); il.Emit(OpCodes.Box, parameters[1]);
        il.Emit(OpCodes.Call, typeof(string).GetMethod("Format", new[] { typeof(string), typeof(object), typeof(object) }));
        il.Emit(OpCodes.Ret);
        return pair;
    }

    // class Square : IShape, with an event, a property, an explicit implementation and a nested class.
    static TypeBuilder Square(ModuleBuilder module, out ConstructorBuilder constructor)
    {
        TypeBuilder square = module.DefineType("My.Square", TypeAttributes.Public, typeof(object), new[] { typeof(IShape) });
        square.SetCustomAttribute(Note("type"));
        FieldBuilder side = square.DefineField("side", typeof(double), FieldAttributes.Private);
        FieldBuilder handlers = square.DefineField("Changed", typeof(EventHandler), FieldAttributes.Private);
        FieldBuilder count = square.DefineField("Count", typeof(int), FieldAttributes.Public | FieldAttributes.Static);
        square.DefineField("Limit", typeof(int), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal).SetConstant(42);
        ILGenerator il = square.DefineTypeInitializer().GetILGenerator();
        il.Emit(OpCodes.Ldc_I4, 100); il.Emit(OpCodes.Stsfld, count); il.Emit(OpCodes.Ret);

        constructor = square.DefineConstructor(MethodAttributes.Public, CallingConventions.Standard, new[] { typeof(double) });
        ParameterBuilder parameter = constructor.DefineParameter(1, ParameterAttributes.Optional, "side");
        parameter.SetConstant(2.5);
        parameter.SetCustomAttribute(Note("parameter"));
        il = constructor.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(object).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_1); il.Emit(OpCodes.Stfld, side);
        il.Emit(OpCodes.Ldsfld, count); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Stsfld, count);
        il.Emit(OpCodes.Ret);

        MethodBuilder area = square.DefineMethod("Measure", Virtual | MethodAttributes.Final, typeof(double), Type.EmptyTypes);
        il = area.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, side); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Mul); il.Emit(OpCodes.Ret);
        square.DefineMethodOverride(area, typeof(IShape).GetMethod("Area"));

        MethodBuilder name = square.DefineMethod("get_Name", Virtual | MethodAttributes.SpecialName, typeof(string), Type.EmptyTypes);
        name.SetCustomAttribute(Note("getter"));
        il = name.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "square"); il.Emit(OpCodes.Ret);
        PropertyBuilder property = square.DefineProperty("Name", PropertyAttributes.None, typeof(string), null);
        property.SetGetMethod(name);
        property.SetCustomAttribute(Note("property"));

        EventBuilder changed = square.DefineEvent("Changed", EventAttributes.None, typeof(EventHandler));
        foreach (string prefix in new[] { "add", "remove" })
        {
            MethodBuilder accessor = square.DefineMethod(prefix + "_Changed", Virtual | MethodAttributes.SpecialName, typeof(void), new[] { typeof(EventHandler) });
            il = accessor.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, handlers); il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Call, typeof(Delegate).GetMethod(prefix == "add" ? "Combine" : "Remove", new[] { typeof(Delegate), typeof(Delegate) }));
            il.Emit(OpCodes.Castclass, typeof(EventHandler)); il.Emit(OpCodes.Stfld, handlers); il.Emit(OpCodes.Ret);
            if (prefix == "add") changed.SetAddOnMethod(accessor); else changed.SetRemoveOnMethod(accessor);
        }
        MethodBuilder fire = square.DefineMethod("Fire", MethodAttributes.Public, typeof(void), Type.EmptyTypes);
        il = fire.GetILGenerator();
        Label none = il.DefineLabel();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, handlers); il.Emit(OpCodes.Brfalse, none);
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldfld, handlers); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldsfld, typeof(EventArgs).GetField("Empty"));
        il.Emit(OpCodes.Callvirt, typeof(EventHandler).GetMethod("Invoke"));
        il.MarkLabel(none); il.Emit(OpCodes.Ret);
        return square;
    }

    // class Tools: generic methods, exception blocks, P/Invoke, initial data, delegates, a switch.
    static TypeBuilder Tools(ModuleBuilder module, TypeBuilder pair, ConstructorBuilder pairConstructor, MethodBuilder swap, ConstructorBuilder square, Type colour)
    {
        TypeBuilder tools = module.DefineType("My.Tools", TypeAttributes.Public | TypeAttributes.Abstract | TypeAttributes.Sealed);
        MethodBuilder twice = tools.DefineMethod("Twice", Static);
        GenericTypeParameterBuilder[] parameters = twice.DefineGenericParameters("T");
        parameters[0].SetInterfaceConstraints(typeof(IComparable));
        twice.SetReturnType(typeof(List<>).MakeGenericType(parameters[0]));
        twice.SetParameters(parameters[0]);
        Type list = typeof(List<>).MakeGenericType(parameters[0]);
        ILGenerator il = twice.GetILGenerator();
        LocalBuilder local = il.DeclareLocal(list);
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(list, typeof(List<>).GetConstructor(Type.EmptyTypes)));
        il.Emit(OpCodes.Stloc, local);
        for (int i = 0; i < 2; i++)
        {
            il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, TypeBuilder.GetMethod(list, typeof(List<>).GetMethod("Add")));
        }
        il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Ret);

        MethodBuilder pairs = tools.DefineMethod("Pairs", Static, typeof(string), Type.EmptyTypes);
        il = pairs.GetILGenerator();
        Type closed = pair.MakeGenericType(typeof(int), typeof(string)), swapped = pair.MakeGenericType(typeof(string), typeof(int));
        LocalBuilder one = il.DeclareLocal(closed), other = il.DeclareLocal(swapped);
        il.Emit(OpCodes.Ldc_I4_7); il.Emit(OpCodes.Ldstr, "seven"); il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(closed, pairConstructor)); il.Emit(OpCodes.Stloc, one);
        il.Emit(OpCodes.Ldloca, one); il.Emit(OpCodes.Call, TypeBuilder.GetMethod(closed, swap)); il.Emit(OpCodes.Stloc, other);
        il.Emit(OpCodes.Ldloca, other); il.Emit(OpCodes.Constrained, swapped); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString"));
        il.Emit(OpCodes.Ldc_I4_5); il.Emit(OpCodes.Call, twice.MakeGenericMethod(typeof(int))); il.Emit(OpCodes.Callvirt, typeof(List<int>).GetProperty("Count").GetGetMethod());
        il.Emit(OpCodes.Box, typeof(int)); il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(object), typeof(object) }));
        il.Emit(OpCodes.Ret);

        MethodBuilder safe = tools.DefineMethod("Safe", Static, typeof(string), new[] { typeof(object) });
        il = safe.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString")); il.Emit(OpCodes.Stloc, result);
        il.BeginCatchBlock(typeof(NullReferenceException));
        il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldstr, "null"); il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.BeginFinallyBlock();
        il.Emit(OpCodes.Ldloc, result); il.Emit(OpCodes.Ldstr, "!"); il.Emit(OpCodes.Call, typeof(string).GetMethod("Concat", new[] { typeof(string), typeof(string) })); il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result); il.Emit(OpCodes.Ret);

        MethodBuilder length = tools.DefinePInvokeMethod("strlen", "libc", Static | MethodAttributes.PinvokeImpl, CallingConventions.Standard, typeof(IntPtr), new[] { typeof(string) }, CallingConvention.Cdecl, CharSet.Ansi);
        length.SetImplementationFlags(MethodImplAttributes.PreserveSig);

        FieldBuilder data = tools.DefineInitializedData("data", new byte[] { 10, 0, 0, 0, 20, 0, 0, 0 }, FieldAttributes.Assembly);
        MethodBuilder sum = tools.DefineMethod("Sum", Static, typeof(int), Type.EmptyTypes);
        il = sum.GetILGenerator();
        il.Emit(OpCodes.Ldc_I4_2); il.Emit(OpCodes.Newarr, typeof(int)); il.Emit(OpCodes.Dup); il.Emit(OpCodes.Ldtoken, data);
        il.Emit(OpCodes.Call, typeof(System.Runtime.CompilerServices.RuntimeHelpers).GetMethod("InitializeArray"));
        LocalBuilder array = il.DeclareLocal(typeof(int[]));
        il.Emit(OpCodes.Stloc, array);
        il.Emit(OpCodes.Ldloc, array); il.Emit(OpCodes.Ldc_I4_0); il.Emit(OpCodes.Ldelem_I4); il.Emit(OpCodes.Ldloc, array); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Ldelem, typeof(int)); il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);

        MethodBuilder word = tools.DefineMethod("Word", Static, typeof(string), new[] { colour });
        il = word.GetILGenerator();
        Label[] cases = { il.DefineLabel(), il.DefineLabel() };
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Switch, cases); il.Emit(OpCodes.Ldtoken, tools); il.Emit(OpCodes.Call, typeof(Type).GetMethod("GetTypeFromHandle")); il.Emit(OpCodes.Callvirt, typeof(object).GetMethod("ToString")); il.Emit(OpCodes.Ret);
        il.MarkLabel(cases[0]); il.Emit(OpCodes.Ldstr, "zero"); il.Emit(OpCodes.Ret);
        il.MarkLabel(cases[1]); il.Emit(OpCodes.Ldstr, "eins \u20ac"); il.Emit(OpCodes.Ret);

        MethodBuilder main = tools.DefineMethod("Main", Static, typeof(int), new[] { typeof(string[]) });
        il = main.GetILGenerator();
        MethodInfo write = typeof(Console).GetMethod("WriteLine", new[] { typeof(object) });
        il.Emit(OpCodes.Call, pairs); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Call, safe); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldstr, "abc"); il.Emit(OpCodes.Call, length); il.Emit(OpCodes.Box, typeof(IntPtr)); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Call, sum); il.Emit(OpCodes.Box, typeof(int)); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Call, word); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldc_I4_4); il.Emit(OpCodes.Call, word); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldc_I4_4); il.Emit(OpCodes.Box, colour); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldc_R8, 1.5); il.Emit(OpCodes.Newobj, square); il.Emit(OpCodes.Callvirt, typeof(IShape).GetMethod("Area")); il.Emit(OpCodes.Box, typeof(double)); il.Emit(OpCodes.Call, write);
        il.Emit(OpCodes.Ldc_I4_3); il.Emit(OpCodes.Ret);
        tools.CreateType();
        return tools;
    }

    static void Use(Assembly assembly)
    {
        Type square = assembly.GetType("My.Square", true);
        Console.WriteLine("{0} {1} {2}", square.FullName, square.Assembly.GetName().Name, square.IsPublic);
        IShape shape = (IShape)Activator.CreateInstance(square, 3.0);
        Console.WriteLine("{0} {1} {2} {3}", shape.Name, shape.Area(), square.GetField("Count").GetValue(null), square.GetField("Limit").GetRawConstantValue());
        int fired = 0;
        EventHandler handler = delegate { fired++; };
        shape.Changed += handler;
        square.GetMethod("Fire").Invoke(shape, null);
        shape.Changed -= handler;
        square.GetMethod("Fire").Invoke(shape, null);
        Console.WriteLine("{0} {1} {2}", fired, square.GetEvent("Changed").EventHandlerType, square.GetProperty("Name").GetGetMethod());
        Console.WriteLine(square.GetCustomAttributes(typeof(NoteAttribute), false)[0]);
        Console.WriteLine(square.GetProperty("Name").GetCustomAttributes(false)[0]);
        Console.WriteLine(square.GetMethod("get_Name").GetCustomAttributes(false)[0]);
        ParameterInfo parameter = square.GetConstructors()[0].GetParameters()[0];
        Console.WriteLine("{0} {1} {2} {3}", parameter.Name, parameter.DefaultValue, parameter.IsOptional, parameter.GetCustomAttributes(typeof(NoteAttribute), false)[0]);
        Console.WriteLine(square.GetInterfaceMap(typeof(IShape)).TargetMethods[0]);
        Type inner = assembly.GetType("My.Square+Inner", true);
        Console.WriteLine("{0} {1} {2} {3}", inner, inner.DeclaringType == square, square.GetNestedTypes()[0] == inner, Activator.CreateInstance(inner));

        Type pair = assembly.GetType("My.Pair`2", true);
        Console.WriteLine("{0} {1} {2}", pair.IsValueType, pair.GetGenericArguments()[1].GenericParameterAttributes, pair.GetGenericArguments()[0].Name);
        Type closed = pair.MakeGenericType(typeof(long), typeof(Version));
        object value = Activator.CreateInstance(closed, 9L, new Version(1, 2));
        Console.WriteLine("{0} {1} {2}", value, closed.GetMethod("Swap").Invoke(value, null), closed.GetField("First").FieldType);
        Type colour = assembly.GetType("My.Colour", true);
        Console.WriteLine("{0} {1} {2}", Enum.ToObject(colour, 5), Enum.GetUnderlyingType(colour), string.Join(" ", Enum.GetNames(colour)));
        MethodInfo twice = assembly.GetType("My.Tools").GetMethod("Twice");
        Console.WriteLine("{0} {1}", twice.Name, ((List<string>)twice.MakeGenericMethod(typeof(string)).Invoke(null, new[] { "x" })).Count);
        Console.WriteLine(assembly.GetType("My.Tools").GetMethod("Main").Invoke(null, new object[] { null }));
    }

    static void Main()
    {
        string folder = Path.Combine(Path.GetTempPath(), "saki-emit-" + Guid.NewGuid());
        Directory.CreateDirectory(folder);
        AssemblyName name = new AssemblyName("Emitted") { Version = new Version(1, 2, 3, 4) };
        AssemblyBuilder assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndSave, folder);
        assembly.SetCustomAttribute(new CustomAttributeBuilder(typeof(AssemblyTitleAttribute).GetConstructors()[0], new object[] { "a title" }));
        ModuleBuilder module = assembly.DefineDynamicModule("Emitted", "Emitted.exe");
        ConstructorBuilder pairConstructor, squareConstructor; MethodBuilder swap;
        Type colour = Colour(module);
        TypeBuilder pair = Pair(module, out pairConstructor, out swap);
        pair.GetGenericArguments();
        TypeBuilder square = Square(module, out squareConstructor);
        TypeBuilder tools = Tools(module, pair, pairConstructor, swap, squareConstructor, colour);
        TypeBuilder inner = square.DefineNestedType("Inner", TypeAttributes.NestedPublic, typeof(object));
        MethodBuilder text = inner.DefineMethod("ToString", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), Type.EmptyTypes);
        ILGenerator il = text.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "inner"); il.Emit(OpCodes.Ret);
        square.CreateType();
        inner.CreateType();
        pair.CreateType();
        assembly.SetEntryPoint(tools.GetMethod("Main"));
        System.Resources.IResourceWriter writer = module.DefineResource("My.resources", "");
        writer.AddResource("greeting", "hello");
        Use(assembly);
        assembly.Save("Emitted.exe");
        Assembly loaded = Assembly.LoadFile(Path.Combine(folder, "Emitted.exe"));
        Console.WriteLine("{0} {1}", loaded.FullName, ((AssemblyTitleAttribute)loaded.GetCustomAttributes(typeof(AssemblyTitleAttribute), false)[0]).Title);
        Console.WriteLine(new System.Resources.ResourceManager("My", loaded).GetString("greeting"));
        Use(loaded);
        Console.WriteLine(loaded.EntryPoint);
        Directory.Delete(folder, true);
    }
}
