// Assemblies made with RunAndCollect are collectible, run as others do, and go when nothing refers to them any more.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

public interface ICounter { int Next(); }

static class Program
{
    static AssemblyBuilder Assembly(string name) => AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), AssemblyBuilderAccess.RunAndCollect);

    // A class with a static field, a generic method and a string.
    static Type Make(ModuleBuilder module, string name, Type parent)
    {
        TypeBuilder type = module.DefineType(name, TypeAttributes.Public, parent, new[] { typeof(ICounter) });
        FieldBuilder field = type.DefineField("count", typeof(int), FieldAttributes.Static | FieldAttributes.Public);
        FieldBuilder list = type.DefineField("list", typeof(List<string>), FieldAttributes.Static | FieldAttributes.Public);
        MethodBuilder next = type.DefineMethod("Next", MethodAttributes.Public | MethodAttributes.Virtual, typeof(int), Type.EmptyTypes);
        ILGenerator code = next.GetILGenerator();
        code.Emit(OpCodes.Ldsfld, field);
        code.Emit(OpCodes.Ldc_I4_1);
        code.Emit(OpCodes.Add);
        code.Emit(OpCodes.Dup);
        code.Emit(OpCodes.Stsfld, field);
        code.Emit(OpCodes.Ret);
        MethodBuilder text = type.DefineMethod("Text", MethodAttributes.Public | MethodAttributes.Static, typeof(string), Type.EmptyTypes);
        code = text.GetILGenerator();
        code.Emit(OpCodes.Newobj, typeof(List<string>).GetConstructor(Type.EmptyTypes));
        code.Emit(OpCodes.Stsfld, list);
        code.Emit(OpCodes.Ldsfld, list);
        code.Emit(OpCodes.Ldstr, "text of " + name);
        code.Emit(OpCodes.Callvirt, typeof(List<string>).GetMethod("Add"));
        code.Emit(OpCodes.Ldsfld, list);
        code.Emit(OpCodes.Ldc_I4_0);
        code.Emit(OpCodes.Callvirt, typeof(List<string>).GetProperty("Item").GetMethod);
        code.Emit(OpCodes.Ret);
        return type.CreateType();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Uses(bool says)
    {
        AssemblyBuilder assembly = Assembly("Made");
        ModuleBuilder module = assembly.DefineDynamicModule("Made");
        Type parent = Make(module, "Parent", typeof(object));
        // Another assembly, whose class derives from one of the first.
        AssemblyBuilder other = Assembly("Other");
        Type child = Make(other.DefineDynamicModule("Other"), "Child", parent);
        var counter = (ICounter)Activator.CreateInstance(child);
        counter.Next();
        int count = counter.Next();
        var text = child.GetMethod("Text").CreateDelegate<Func<string>>();
        var list = (System.Collections.IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(child));
        list.Add(counter);
        if (says)
        {
            Console.WriteLine($"{assembly.IsCollectible} {child.IsCollectible} {child.Assembly.IsCollectible} {child.GetMethod("Next").IsCollectible} {list.GetType().IsCollectible} {assembly.IsDynamic}");
            Console.WriteLine($"{count} {text()} {parent.GetMethod("Text").Invoke(null, null)} {list.Count} {child.BaseType == parent} {list.GetType()}");
        }
        return new WeakReference(child);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Type Keeps()
    {
        AssemblyBuilder assembly = Assembly("Kept");
        return Make(assembly.DefineDynamicModule("Kept"), "Kept", typeof(object));
    }

    static int Alive(List<WeakReference> made)
    {
        for (int i = 0; i < 5; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        return made.FindAll(weak => weak.IsAlive).Count;
    }

    static void Main()
    {
        var made = new List<WeakReference>();
        void InThread(Action work)
        {
            var thread = new Thread(() => work());
            thread.Start();
            thread.Join();
        }
        InThread(() => made.Add(Uses(true)));
        for (int i = 0; i < 20; i++) InThread(() => made.Add(Uses(false)));
        Type kept = null;
        InThread(() => kept = Keeps());
        // The conservative collector may keep a few.
        Console.WriteLine(Alive(made) < 10);
        Console.WriteLine(((ICounter)Activator.CreateInstance(kept)).Next());
        Console.WriteLine(kept.GetMethod("Text").Invoke(null, null));
        int loaded = Array.FindAll(AppDomain.CurrentDomain.GetAssemblies(), assembly => assembly.GetName().Name is "Made" or "Other").Length;
        Console.WriteLine(loaded < 20);
        var run = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Run"), AssemblyBuilderAccess.Run);
        Console.WriteLine($"{run.IsCollectible} {Make(run.DefineDynamicModule("Run"), "Run", typeof(object)).IsCollectible}");
    }
}
