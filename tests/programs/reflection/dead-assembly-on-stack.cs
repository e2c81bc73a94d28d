// mcs: -unsafe
// A collectible assembly that has died and is not freed yet, because a finalizer takes its time, does not come back to life when a stack
// has an old address in it: its statics lead to objects that are gone.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

class Slow
{
    public static readonly ManualResetEvent Began = new ManualResetEvent(false), MayEnd = new ManualResetEvent(false);

    ~Slow()
    {
        Began.Set();
        MayEnd.WaitOne();
    }
}

static class DeadAssemblyOnStack
{
    // Where the assemblies' types were, in a form that is no address.
    static readonly long[] places = new long[20];
    static readonly WeakReference[] contents = new WeakReference[20];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Type Make(int index)
    {
        var name = new AssemblyName("Short" + index);
        TypeBuilder builder = AppDomain.CurrentDomain.DefineDynamicAssembly(name, AssemblyBuilderAccess.RunAndCollect)
            .DefineDynamicModule("m").DefineType("Holder", TypeAttributes.Public);
        builder.DefineField("Content", typeof(object), FieldAttributes.Public | FieldAttributes.Static);
        Type type = builder.CreateType();
        object content = new int[1000];
        type.GetField("Content").SetValue(null, content);
        contents[index] = new WeakReference(content);
        places[index] = ~type.TypeHandle.Value.ToInt64();
        return type;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DropSlow()
    {
        new Slow();
    }

    // Overwrites what calls have left on the stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe long Clear()
    {
        long* words = stackalloc long[4000];
        for (int i = 0; i < 4000; i++)
            words[i] = 0;
        return words[17];
    }

    // Memory that was free holds other objects afterwards, and zeros where objects began.
    static void Fill()
    {
        var filled = new long[4000][];
        for (int i = 0; i < filled.Length; i++)
            filled[i] = new long[200 + i % 7];
        GC.KeepAlive(filled);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void CollectWithOldAddresses()
    {
        long* words = stackalloc long[places.Length];
        for (int i = 0; i < places.Length; i++)
            words[i] = ~places[i];
        for (int i = 0; i < 3; i++)
        {
            Fill();
            GC.Collect();
        }
        if (words[0] == 17)
            Console.WriteLine("never");
    }

    static void Main()
    {
        while (!Slow.Began.WaitOne(1))
        {
            DropSlow();
            Clear();
            GC.Collect();
        }
        for (int i = 1; i < places.Length; i++)
            Make(i);
        // One lives, so that collections look for owners.
        Type kept = Make(0);
        Clear();
        for (int i = 0; i < 3; i++)
            GC.Collect();
        int alive = 0;
        foreach (WeakReference content in contents)
            alive += content.IsAlive ? 1 : 0;
        Console.WriteLine("most have died: {0}", alive < 5);
        CollectWithOldAddresses();
        GC.KeepAlive(kept);
        Slow.MayEnd.Set();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("still here");
    }
}
