// Assemblies of AssemblyBuilderAccess.RunAndCollect end when nothing has them, and not before: behind instances, arrays, delegates,
// generic instances, reflection objects, boxed values, traces of exceptions, other assemblies, code that runs.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public interface IShape
{
    int Sides(int x);
}

static class Program
{
    static int made;
    static Type last;

    static ModuleBuilder NewModule()
    {
        var name = new AssemblyName("collectible" + made++);
        return AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("m");
    }

    // class T : IShape { static object cache; public int Value; int Sides (int x) => x + n; static int Twice (int x) => 2 * x;
    // static void Fail () => throw; static int Calls (Func<int, int> f, int x) => f (x) + 1; string Name => "literal n" }
    static Type Make(int n, Type parent = null)
    {
        TypeBuilder type = NewModule().DefineType("T" + n, TypeAttributes.Public, parent ?? typeof(object), new[] { typeof(IShape) });
        FieldBuilder cache = type.DefineField("cache", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        type.DefineField("Value", typeof(int), FieldAttributes.Public);
        type.DefineDefaultConstructor(MethodAttributes.Public);
        ILGenerator il = type.DefineMethod("Sides", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), new[] { typeof(int) }).GetILGenerator();
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Ldc_I4, n);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        il = type.DefineMethod("Twice", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(int) }).GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_2);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ret);
        il = type.DefineMethod("Fail", MethodAttributes.Public | MethodAttributes.Static, typeof(void), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldstr, "thrown by " + n);
        il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(new[] { typeof(string) }));
        il.Emit(OpCodes.Throw);
        il = type.DefineMethod("Calls", MethodAttributes.Public | MethodAttributes.Static, typeof(int), new[] { typeof(Func<int, int>), typeof(int) }).GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Callvirt, typeof(Func<int, int>).GetMethod("Invoke"));
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ldsfld, cache);
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ret);
        MethodBuilder getter = type.DefineMethod("get_Name", MethodAttributes.Public | MethodAttributes.Virtual | MethodAttributes.SpecialName, typeof(string), Type.EmptyTypes);
        il = getter.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "literal " + n);
        il.Emit(OpCodes.Ret);
        type.DefineProperty("Name", PropertyAttributes.None, typeof(string), Type.EmptyTypes).SetGetMethod(getter);
        return last = type.CreateType();
    }

    static Type MakeStruct(int n)
    {
        TypeBuilder type = NewModule().DefineType("S" + n, TypeAttributes.Public | TypeAttributes.SequentialLayout, typeof(ValueType));
        type.DefineField("a", typeof(long), FieldAttributes.Public);
        type.DefineField("b", typeof(string), FieldAttributes.Public);
        ILGenerator il = type.DefineMethod("ToString", MethodAttributes.Public | MethodAttributes.Virtual, typeof(string), Type.EmptyTypes).GetILGenerator();
        il.Emit(OpCodes.Ldstr, "struct " + n);
        il.Emit(OpCodes.Ret);
        return last = type.CreateType();
    }

    // Overwrites stale words of the frames below.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Scrub(int depth)
    {
        return depth == 0 ? 0 : Scrub(depth - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeOthers(int count)
    {
        for (int i = 0; i < count; i++)
        {
            Type type = Make(100000 + i);
            var shape = (IShape)Activator.CreateInstance(type);
            if (shape.Sides(1) != 100001 + i)
                throw new Exception("wrong type");
        }
    }

    static void Churn()
    {
        for (int i = 0; i < 3; i++)
        {
            Scrub(200);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            MakeOthers(20);
            foreach (Assembly assembly in AppDomain.CurrentDomain.GetAssemblies())
                if (assembly.FullName == null)
                    throw new Exception("an assembly without a name");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] Forget(int count, Func<int, object> make)
    {
        var links = new WeakReference[count];
        for (int i = 0; i < count; i++)
        {
            make(i);
            links[i] = new WeakReference(last);
        }
        last = null;
        return links;
    }

    static int AliveOf(WeakReference[] links)
    {
        int alive = 0;
        foreach (WeakReference link in links)
            if (link.IsAlive)
                alive++;
        return alive;
    }

    static void Ended(string what, Func<int, object> make)
    {
        WeakReference[] links = Forget(100, make);
        Churn();
        Churn();
        Console.WriteLine("{0}: {1}", what, AliveOf(links) < 10 ? "ended" : AliveOf(links) + " live");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Instance(int n)
    {
        object made = Activator.CreateInstance(Make(n));
        made.GetType().GetField("Value").SetValue(made, n);
        return made;
    }

    static Exception Thrown(int n)
    {
        try
        {
            ((Action)Make(n).GetMethod("Fail").CreateDelegate(typeof(Action)))();
        }
        catch (Exception e)
        {
            return e;
        }
        return null;
    }

    static int CollectInside(int x)
    {
        Churn();
        return x * 3;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RunAndDrop()
    {
        var calls = (Func<Func<int, int>, int, int>)Make(7).GetMethod("Calls").CreateDelegate(typeof(Func<Func<int, int>, int, int>));
        return calls(CollectInside, 5);
    }

    static Func<int, int> ThroughDynamicMethod(int n)
    {
        var method = new DynamicMethod("calls", typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.EmitCall(OpCodes.Call, Make(n).GetMethod("Twice"), null);
        il.Emit(OpCodes.Ret);
        return (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>));
    }

    static object Filled(int n)
    {
        Type type = Make(n);
        var list = (IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(type));
        list.Add(Activator.CreateInstance(type));
        return list;
    }

    static object Cycle(int n)
    {
        Type type = Make(n);
        object instance = Activator.CreateInstance(type);
        type.GetField("cache").SetValue(null, new object[] { instance, type, type.GetMethod("Sides") });
        return instance;
    }

    static void Main()
    {
        Ended("types", n => Make(n));
        Ended("instances", n => Instance(n));
        Ended("statics with their own objects", n => Cycle(n));
        Ended("generic instances", n => Filled(n));
        Ended("structs", n => Activator.CreateInstance(MakeStruct(n)));
        Ended("delegates", n => Make(n).GetMethod("Twice").CreateDelegate(typeof(Func<int, int>)));
        Ended("derived from another", n => Activator.CreateInstance(Make(n, Make(n))));
        Ended("traces", n => Thrown(n));
        Ended("called by dynamic methods", n => ThroughDynamicMethod(n));
        Ended("properties", n => Make(n).GetProperty("Name"));

        object instance = Instance(11);
        object derived = Activator.CreateInstance(Make(12, Make(13)));
        Array array = Array.CreateInstance(Make(14), 3);
        object list = Filled(15);
        object value = Activator.CreateInstance(MakeStruct(16));
        var twice = (Func<int, int>)Make(17).GetMethod("Twice").CreateDelegate(typeof(Func<int, int>));
        MethodInfo method = Make(18).GetMethod("Twice");
        PropertyInfo property = Make(19).GetProperty("Name");
        Exception thrown = Thrown(20);
        Func<int, int> dynamic = ThroughDynamicMethod(21);
        RuntimeTypeHandle handle = Make(22).TypeHandle;
        Assembly assembly = Make(23).Assembly;
        object cycle = Cycle(24);
        Churn();
        Churn();
        Console.WriteLine("instance: {0} {1} {2}", instance.GetType().Name, ((IShape)instance).Sides(1), instance.GetType().GetField("Value").GetValue(instance));
        Console.WriteLine("derived: {0} {1}", derived.GetType().BaseType.Name, ((IShape)derived).Sides(1));
        Console.WriteLine("array: {0}", array.GetType().GetElementType().Name);
        Console.WriteLine("list: {0} {1}", list.GetType().GetGenericArguments()[0].Name, ((IShape)((IList)list)[0]).Sides(1));
        Console.WriteLine("value: {0} {1}", value, value.Equals(value));
        Console.WriteLine("delegate: {0} {1}", twice(21), twice.Method.Name);
        Console.WriteLine("method: {0}", method.Invoke(null, new object[] { 5 }));
        Console.WriteLine("property: {0}", property.GetValue(Activator.CreateInstance(property.DeclaringType), null));
        Console.WriteLine("trace: {0} {1}", thrown.Message, thrown.StackTrace.Contains("T20.Fail"));
        Console.WriteLine("dynamic method: {0}", dynamic(4));
        Console.WriteLine("handle: {0}", Type.GetTypeFromHandle(handle).Name);
        Console.WriteLine("assembly: {0}", assembly.GetType("T23").GetMethod("Twice").Invoke(null, new object[] { 8 }));
        Console.WriteLine("cycle: {0}", ((IShape)((object[])cycle.GetType().GetField("cache").GetValue(null))[0]).Sides(0));
        Console.WriteLine("running: {0}", RunAndDrop());
    }
}
