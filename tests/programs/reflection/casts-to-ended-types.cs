// Casts to types of collectible assemblies, while such assemblies end and others come: what was found for an interface
// that ended holds for none that comes later.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

public class Host
{
}

public class Kin : Host, IComparable
{
    public int CompareTo(object other)
    {
        return 0;
    }
}

static class Program
{
    static int made, wrong;
    static readonly object[] hosts = { "text", new Host(), new Kin(), new Host[1], new Kin[1], new List<string>(), 7 };

    static ModuleBuilder NewModule()
    {
        var name = new AssemblyName("casts" + made++);
#if NET
        return AssemblyBuilder.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("m");
#else
        return AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect).DefineDynamicModule("m");
#endif
    }

    // static bool NAME (object o) => o is TYPE
    static void DefineTest(TypeBuilder type, string name, Type target)
    {
        ILGenerator il = type.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, typeof(bool), new[] { typeof(object) }).GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Isinst, target);
        il.Emit(OpCodes.Ldnull);
        il.Emit(OpCodes.Cgt_Un);
        il.Emit(OpCodes.Ret);
    }

    static Func<object, bool> TestOf(Type type, string name)
    {
        return (Func<object, bool>)Delegate.CreateDelegate(typeof(Func<object, bool>), type.GetMethod(name));
    }

    static void Expect(bool expected, bool found)
    {
        if (expected != found)
            wrong++;
    }

    // interface I; class T : Kin, or also I if the number is odd; tests for I, I[], IEnumerable<I> and IComparable.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TestOne(int number)
    {
        bool implements = number % 2 == 1;
        ModuleBuilder module = NewModule();
        Type contract = module.DefineType("I", TypeAttributes.Public | TypeAttributes.Interface | TypeAttributes.Abstract).CreateType();
        TypeBuilder builder = module.DefineType("T", TypeAttributes.Public, typeof(Kin), implements ? new[] { contract } : Type.EmptyTypes);
        builder.DefineDefaultConstructor(MethodAttributes.Public);
        DefineTest(builder, "IsI", contract);
        DefineTest(builder, "AreI", contract.MakeArrayType());
        DefineTest(builder, "EnumerateI", typeof(IEnumerable<>).MakeGenericType(contract));
        DefineTest(builder, "Compares", typeof(IComparable));
        Type type = builder.CreateType();
        Func<object, bool> isI = TestOf(type, "IsI"), areI = TestOf(type, "AreI"), enumerateI = TestOf(type, "EnumerateI"), compares = TestOf(type, "Compares");
        object instance = Activator.CreateInstance(type), array = Array.CreateInstance(type, 1);
        object list = Activator.CreateInstance(typeof(List<>).MakeGenericType(type));
        for (int round = 0; round < 3; round++)
        {
            foreach (object host in hosts)
            {
                Expect(false, isI(host));
                Expect(false, areI(host));
                Expect(false, enumerateI(host));
                Expect(host is string || host is Kin || host is int, compares(host));
            }
            Expect(implements, isI(instance));
            Expect(implements, areI(array));
            Expect(implements, enumerateI(array));
            Expect(implements, enumerateI(list));
            Expect(false, areI(instance));
            Expect(true, compares(instance));
            Expect(true, array is Kin[] && list is System.Collections.IList && instance is IComparable);
        }
    }

    // Overwrites stale words of the frames below.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Scrub(int depth)
    {
        return depth == 0 ? 0 : Scrub(depth - 1) + 1;
    }

    static void Main()
    {
        for (int number = 0; number < 120; number++)
        {
            TestOne(number);
            if (number % 12 == 11)
            {
                Scrub(200);
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
        Console.WriteLine("{0} assemblies, {1} wrong", made, wrong);
    }
}
