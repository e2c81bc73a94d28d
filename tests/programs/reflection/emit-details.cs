// Reflection.Emit, what is easily missed: names, tokens, unfinished types, global methods, calli, array methods, filters, checks.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.InteropServices;

public class VisibleAttribute : Attribute { }
class HiddenAttribute : Attribute { }
public interface ICell { object Get(); }
public class GenericBase { public virtual string Name<T>(int n) { return typeof(T).Name + n; } }

static class Program
{
    static AssemblyBuilder assembly;
    static ModuleBuilder module;
    const MethodAttributes Static = MethodAttributes.Public | MethodAttributes.Static;

    static void Report(string what, Action action)
    {
        try { action(); }
        catch (Exception e) { Console.WriteLine("{0}: {1}", what, (e.InnerException ?? e).GetType().Name); }
    }

    static void Names()
    {
        TypeBuilder builder = module.DefineType("N.Foo", TypeAttributes.Public);
        Type foo = builder.CreateType();
        Console.WriteLine("{0} {1} {2}", Type.GetType("N.Foo, EmittedDetails") == null, assembly.GetType("N.Foo") == foo, assembly.GetType("n.fOO", false, true) == foo);
        Report("load by name", () => Assembly.Load("EmittedDetails"));
        ResolveEventHandler handler = (s, e) => e.Name.StartsWith("EmittedDetails") ? assembly : null;
        AppDomain.CurrentDomain.AssemblyResolve += handler;
        Console.WriteLine(Type.GetType("N.Foo, EmittedDetails") == foo);
        AppDomain.CurrentDomain.AssemblyResolve -= handler;
        Console.WriteLine("{0} {1} {2}", foo.Module == module, foo.Assembly == assembly, foo.MetadataToken == builder.TypeToken.Token);
        Console.WriteLine("{0} {1}", module.ResolveType(foo.MetadataToken) == foo, module.GetType("N.Foo") == foo);
        Console.WriteLine("{0} {1}", Activator.CreateInstance(foo), foo.AssemblyQualifiedName);
    }

    // Two types that name each other, and a nested struct that is finished when its outer class needs it.
    static void Unfinished()
    {
        TypeBuilder left = module.DefineType("Left", TypeAttributes.Public), right = module.DefineType("Right", TypeAttributes.Public);
        left.DefineField("other", right, FieldAttributes.Public);
        right.DefineField("other", left, FieldAttributes.Public);
        Type made = left.CreateType();
        Console.WriteLine(made.GetConstructors().Length);
        Type other = right.CreateType();
        Console.WriteLine("{0} {1}", made.GetField("other").FieldType == other, other.GetField("other").FieldType == made);

        TypeBuilder outer = module.DefineType("Outer", TypeAttributes.Public);
        TypeBuilder inner = outer.DefineNestedType("Inner", TypeAttributes.NestedPublic | TypeAttributes.Sealed | TypeAttributes.SequentialLayout, typeof(ValueType));
        inner.DefineField("value", typeof(long), FieldAttributes.Public);
        outer.DefineField("inner", inner, FieldAttributes.Public);
        ResolveEventHandler handler = (s, e) => { Console.WriteLine("resolve {0}", e.Name); inner.CreateType(); return assembly; };
        AppDomain.CurrentDomain.TypeResolve += handler;
        object instance = Activator.CreateInstance(outer.CreateType());
        AppDomain.CurrentDomain.TypeResolve -= handler;
        Console.WriteLine(instance.GetType().GetField("inner").GetValue(instance));

        // A generic class whose outer class is never finished.
        TypeBuilder container = module.DefineType("Container", TypeAttributes.Public);
        TypeBuilder cell = container.DefineNestedType("Cell", TypeAttributes.NestedPublic, typeof(object));
        cell.AddInterfaceImplementation(typeof(ICell));
        GenericTypeParameterBuilder[] parameters = cell.DefineGenericParameters("A", "B");
        ConstructorBuilder constructor = cell.DefineDefaultConstructor(MethodAttributes.Public);
        MethodBuilder get = cell.DefineMethod("Get", MethodAttributes.Public | MethodAttributes.Virtual, typeof(object), Type.EmptyTypes);
        ILGenerator il = get.GetILGenerator();
        il.Emit(OpCodes.Newobj, TypeBuilder.GetConstructor(cell.MakeGenericType(parameters[1], parameters[0]), constructor));
        il.Emit(OpCodes.Ret);
        Type closed = cell.CreateType().MakeGenericType(typeof(int), typeof(string));
        Console.WriteLine(((ICell)Activator.CreateInstance(closed)).Get().GetType().GetGenericArguments()[0]);
    }

    static void Code()
    {
        TypeBuilder type = module.DefineType("Code", TypeAttributes.Public);
        MethodBuilder indirect = type.DefineMethod("Indirect", Static, typeof(int), new[] { typeof(int) });
        ILGenerator il = indirect.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldftn, typeof(Math).GetMethod("Abs", new[] { typeof(int) }));
        il.EmitCalli(OpCodes.Calli, CallingConventions.Standard, typeof(int), new[] { typeof(int) }, null);
        il.Emit(OpCodes.Ret);

        Type square = typeof(string[,]);
        MethodBuilder matrix = type.DefineMethod("Matrix", Static, typeof(string), Type.EmptyTypes);
        il = matrix.GetILGenerator();
        LocalBuilder local = il.DeclareLocal(square);
        il.Emit(OpCodes.Ldc_I4_2); il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Newobj, module.GetArrayMethod(square, ".ctor", CallingConventions.HasThis, typeof(void), new[] { typeof(int), typeof(int) }));
        il.Emit(OpCodes.Stloc, local);
        il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Ldc_I4_2); il.Emit(OpCodes.Ldstr, "corner");
        il.Emit(OpCodes.Call, module.GetArrayMethod(square, "Set", CallingConventions.HasThis, typeof(void), new[] { typeof(int), typeof(int), typeof(string) }));
        il.Emit(OpCodes.Ldloc, local); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Ldc_I4_2);
        il.Emit(OpCodes.Call, module.GetArrayMethod(square, "Get", CallingConventions.HasThis, typeof(string), new[] { typeof(int), typeof(int) }));
        il.Emit(OpCodes.Ret);

        MethodBuilder filter = type.DefineMethod("Filter", Static, typeof(string), new[] { typeof(string) });
        il = filter.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(string));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Call, typeof(int).GetMethod("Parse", new[] { typeof(string) })); il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldstr, "number"); il.Emit(OpCodes.Stloc, result);
        il.BeginExceptFilterBlock();
        il.Emit(OpCodes.Isinst, typeof(FormatException)); il.Emit(OpCodes.Ldnull); il.Emit(OpCodes.Cgt_Un);
        il.BeginCatchBlock(null);
        il.Emit(OpCodes.Pop); il.Emit(OpCodes.Ldstr, "no number"); il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result); il.Emit(OpCodes.Ret);

        type.DefineUninitializedData("room", 4, FieldAttributes.Public);
        type.SetCustomAttribute(new CustomAttributeBuilder(typeof(VisibleAttribute).GetConstructors()[0], new object[0]));
        Type made = type.CreateType();
        Console.WriteLine("{0} {1}", made.GetMethod("Indirect").Invoke(null, new object[] { -5 }), made.GetMethod("Matrix").Invoke(null, null));
        Console.WriteLine("{0}, {1}", made.GetMethod("Filter").Invoke(null, new object[] { "1" }), made.GetMethod("Filter").Invoke(null, new object[] { "x" }));
        Report("not filtered", () => made.GetMethod("Filter").Invoke(null, new object[] { null }));
        Console.WriteLine("{0} {1}", made.GetField("room").GetValue(null) != null, made.IsDefined(typeof(VisibleAttribute), false));

        MethodBuilder global = module.DefineGlobalMethod("Global", Static, typeof(int), new[] { typeof(int) });
        il = global.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4_1); il.Emit(OpCodes.Add); il.Emit(OpCodes.Ret);
        module.CreateGlobalFunctions();
        Console.WriteLine(module.GetMethod("Global").Invoke(null, new object[] { 41 }));
    }

    // A generic method definition in code means the method over the parameters of the code's own method.
    static void GenericDefinition()
    {
        MethodInfo overridden = typeof(GenericBase).GetMethod("Name");
        TypeBuilder type = module.DefineType("GenericDerived", TypeAttributes.Public, typeof(GenericBase));
        MethodBuilder name = type.DefineMethod("Name", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), new[] { typeof(int) });
        name.DefineGenericParameters("T");
        ILGenerator il = name.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0); il.Emit(OpCodes.Ldc_I4_7); il.Emit(OpCodes.Call, overridden); il.Emit(OpCodes.Ret);
        type.DefineMethodOverride(name, overridden);
        GenericBase made = (GenericBase)Activator.CreateInstance(type.CreateType());
        Console.WriteLine("{0} {1}", made.Name<string>(1), made.Name<DateTime>(1));
    }

    static void Checks()
    {
        TypeBuilder hidden = module.DefineType("WithHidden", TypeAttributes.Public);
        hidden.SetCustomAttribute(new CustomAttributeBuilder(typeof(HiddenAttribute).GetConstructors()[0], new object[0]));
        Console.WriteLine(hidden.CreateType().GetCustomAttributes(false).Length);
        TypeBuilder bad = module.DefineType("BadEnum", TypeAttributes.Public | TypeAttributes.Sealed, typeof(Enum));
        bad.DefineField("value__", typeof(string), FieldAttributes.Public | FieldAttributes.SpecialName | FieldAttributes.RTSpecialName);
        Report("enum of strings", () => bad.CreateType());
        Report("sealed parent", () => module.DefineType("Derived", TypeAttributes.Public, typeof(string)).CreateType());
        Report("no body", () => { TypeBuilder empty = module.DefineType("Empty"); empty.DefineMethod("M", MethodAttributes.Public); empty.CreateType(); });
        Report("duplicate", () => module.DefineType("N.Foo"));
        AssemblyBuilder saved = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("SaveOnly"), AssemblyBuilderAccess.Save);
        Type type = saved.DefineDynamicModule("SaveOnly", "SaveOnly.dll").DefineType("T", TypeAttributes.Public).CreateType();
        Report("save only", () => Activator.CreateInstance(type));
        assembly.SetCustomAttribute(new CustomAttributeBuilder(typeof(AssemblyProductAttribute).GetConstructors()[0], new object[] { "product" }));
        Console.WriteLine(((AssemblyProductAttribute)assembly.GetCustomAttributes(false)[0]).Product);
        SignatureHelper helper = SignatureHelper.GetLocalVarSigHelper(module);
        helper.AddArgument(typeof(int));
        helper.AddArgument(typeof(string[]));
        Console.WriteLine(BitConverter.ToString(helper.GetSignature()));
        FieldBuilder date = module.DefineType("Dates", TypeAttributes.Public).DefineField("start", typeof(DateTime), FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal);
        date.SetConstant(new DateTime(2001, 2, 3));
        Console.WriteLine(((TypeBuilder)date.DeclaringType).CreateType().GetField("start").IsLiteral);
    }

    static void Main()
    {
        assembly = AppDomain.CurrentDomain.DefineDynamicAssembly(new AssemblyName("EmittedDetails"), AssemblyBuilderAccess.RunAndSave);
        module = assembly.DefineDynamicModule("EmittedDetails", "EmittedDetails.dll");
        Names();
        Unfinished();
        Code();
        GenericDefinition();
        Checks();
    }
}
