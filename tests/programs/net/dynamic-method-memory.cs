// timeout: 120
// stress: skip 100,000 methods, each of some hundred allocations
// 100,000 dynamic methods, each called once and dropped, leave no memory behind: neither objects nor code.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;

static class Memory
{
    static readonly List<WeakReference> weak = new();

    static DynamicMethod Adds(int number)
    {
        var method = new DynamicMethod("Adds" + number, typeof(int), new[] { typeof(int) }, typeof(Memory));
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, number);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ldstr, "text " + number);
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static long ResidentBytes() => long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]) * Environment.SystemPageSize;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long MakeMany(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            var made = Adds(i & 7);
            sum += made.CreateDelegate<Func<int, int>>()(i & 15);
            if (i % 100 == 0) weak.Add(new WeakReference(made));
        }
        return sum;
    }

    static void Collect()
    {
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void Main()
    {
        Console.WriteLine(MakeMany(2000));
        Collect();
        long before = ResidentBytes();
        Console.WriteLine(MakeMany(100000));
        Collect();
        int alive = 0;
        foreach (WeakReference one in weak) if (one.IsAlive) alive++;
        Console.WriteLine("freed: " + (alive < 100));
        // .NET itself grows by more than 100 MB; methods that are kept take 260 MB.
        Console.WriteLine("small: " + (ResidentBytes() - before < 200 << 20));
    }
}
