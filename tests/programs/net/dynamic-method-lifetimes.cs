// timeout: 120
// Dynamic methods live as long as something can call or show them: delegates, other dynamic methods, running code, traces; the others and their code are freed.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Threading;

static class Lifetimes
{
    static readonly List<WeakReference> weak = new();

    static DynamicMethod Adds(int number)
    {
        var method = new DynamicMethod("Adds" + number, typeof(int), new[] { typeof(int) }, typeof(Lifetimes));
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, number);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ldstr, "text " + number);
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static DynamicMethod Calls(DynamicMethod other)
    {
        var method = new DynamicMethod("Calls" + other.Name, typeof(int), new[] { typeof(int) }, typeof(Lifetimes));
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, other);
        il.Emit(OpCodes.Ret);
        return method;
    }

    static void Collect()
    {
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long MakeMany(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            var made = Adds(i & 7);
            sum += made.CreateDelegate<Func<int, int>>()(i & 15);
            if (i % 10 == 0) weak.Add(new WeakReference(made));
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Func<int, int> Chain(int length)
    {
        DynamicMethod method = Adds(1);
        for (int i = 1; i < length; i++) method = Calls(method);
        return method.CreateDelegate<Func<int, int>>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Exception Caught(bool keepsByDispatch)
    {
        var method = new DynamicMethod("Thrower", typeof(void), Type.EmptyTypes, typeof(Lifetimes));
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Throw);
        weak.Add(new WeakReference(method));
        try { method.CreateDelegate<Action>()(); }
        catch (Exception e)
        {
            if (!keepsByDispatch) return e;
            var info = ExceptionDispatchInfo.Capture(e);
            try { info.Throw(); } catch (Exception again) { return again; }
        }
        return null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static MethodInfo InfoAlone() => Adds(40).CreateDelegate<Func<int, int>>().Method;

    static int Alive()
    {
        int alive = 0;
        foreach (WeakReference one in weak) if (one.IsAlive) alive++;
        return alive;
    }

    static void Main()
    {
        Func<int, int> chain = Chain(50);
        MethodInfo alone = InfoAlone();
        Exception direct = Caught(false), again = Caught(true);
        MakeMany(300);
        Collect();
        MakeMany(300);
        Console.WriteLine(chain(3) + " " + alone.Invoke(null, new object[] { 2 }) + " " + alone.Name);
        Console.WriteLine(direct.StackTrace.Split('\n')[0].Trim());
        Console.WriteLine(again.StackTrace.Split('\n')[0].Trim());
        Console.WriteLine(new System.Diagnostics.StackTrace(direct).GetFrame(0).GetMethod()?.Name);

        long sum = 0;
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
            (threads[i] = new Thread(() => Interlocked.Add(ref sum, MakeOnThread(500)))).Start();
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine(sum);
        MakeMany(300);
        direct = again = null;
        Collect();
        Console.WriteLine("freed: " + (Alive() < weak.Count / 2));
        var shared = Adds(5);
        int total = 0;
        for (int i = 0; i < threads.Length; i++)
            (threads[i] = new Thread(() => Interlocked.Add(ref total, shared.CreateDelegate<Func<int, int>>()(1)))).Start();
        foreach (Thread thread in threads) thread.Join();
        Console.WriteLine(total);
    }

    static long MakeOnThread(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++) sum += Adds(i & 7).CreateDelegate<Func<int, int>>()(i & 15);
        return sum;
    }
}
