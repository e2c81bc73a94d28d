// mcs: -r:System.Core.dll
// Dynamic methods end when nothing has them, and not before: on stacks, behind delegates, in traces of exceptions, called by
// others, or invoked through reflection.
using System;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;

static class Program
{
    delegate int Unary(int x);

    static DynamicMethod Adding(int value)
    {
        var method = new DynamicMethod("add" + value, typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4, value);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return method;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long MakeMany(int first, int count)
    {
        long sum = 0;
        for (int i = first; i < first + count; i++)
            sum += ((Unary)Adding(i).CreateDelegate(typeof(Unary)))(1) - i - 1;
        return sum;
    }

    // Overwrites stale words of the frames below.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Scrub(int depth)
    {
        return depth == 0 ? 0 : Scrub(depth - 1) + 1;
    }

    static void Churn()
    {
        Scrub(200);
        GC.Collect();
        MakeMany(1000000, 3000);
        GC.Collect();
        GC.Collect();
        MakeMany(2000000, 3000);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] Forget(int count)
    {
        var links = new WeakReference[count];
        for (int i = 0; i < count; i++)
        {
            DynamicMethod method = Adding(i);
            ((Unary)method.CreateDelegate(typeof(Unary)))(1);
            links[i] = new WeakReference(method);
        }
        return links;
    }

    // Methods that were asked for their RuntimeMethodInfo.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] ForgetShown(int count)
    {
        var links = new WeakReference[count];
        for (int i = 0; i < count; i++)
        {
            var add = (Unary)Adding(i).CreateDelegate(typeof(Unary));
            if (!ReferenceEquals(add.GetInvocationList()[0].Method, add.Method) || (int)add.Method.Invoke(null, new object[] { 1 }) != i + 1)
                throw new Exception("method of a delegate");
            links[i] = new WeakReference(add.Method);
        }
        return links;
    }

    public static int CollectInside(int x)
    {
        Churn();
        return x * 2;
    }

    // A method whose delegate is gone while it runs.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RunAndDrop()
    {
        var method = new DynamicMethod("running", typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.EmitCall(OpCodes.Call, typeof(Program).GetMethod("CollectInside"), null);
        il.Emit(OpCodes.Ldc_I4, 1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ldstr, "literal of a running method");
        il.EmitCall(OpCodes.Callvirt, typeof(string).GetProperty("Length").GetGetMethod(), null);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Ret);
        return ((Unary)method.CreateDelegate(typeof(Unary)))(20);
    }

    static Unary Chain(int depth)
    {
        DynamicMethod callee = Adding(5);
        for (int i = 0; i < depth; i++)
        {
            var caller = new DynamicMethod("level" + i, typeof(int), new[] { typeof(int) }, typeof(Program).Module);
            ILGenerator il = caller.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.EmitCall(OpCodes.Call, callee, null);
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            callee = caller;
        }
        return (Unary)callee.CreateDelegate(typeof(Unary));
    }

    static Exception Thrown()
    {
        var method = new DynamicMethod("throwing", typeof(void), Type.EmptyTypes, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldstr, "from a dynamic method");
        il.Emit(OpCodes.Newobj, typeof(InvalidOperationException).GetConstructor(new[] { typeof(string) }));
        il.Emit(OpCodes.Throw);
        try
        {
            ((Action)method.CreateDelegate(typeof(Action)))();
        }
        catch (Exception e)
        {
            return e;
        }
        return null;
    }

    static int Catching()
    {
        var method = new DynamicMethod("catching", typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(int));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldc_I4, 10);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Div);
        il.Emit(OpCodes.Stloc, result);
        il.BeginExceptFilterBlock();
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldc_I4_1);
        il.BeginCatchBlock(null);
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldc_I4, -1);
        il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        var f = (Unary)method.CreateDelegate(typeof(Unary));
        return f(2) * 100 + f(0);
    }

    static int AliveOf(WeakReference[] links)
    {
        int alive = 0;
        foreach (WeakReference link in links)
            if (link.IsAlive)
                alive++;
        return alive;
    }

    static void Main()
    {
        WeakReference[] links = Forget(2000);
        Churn();
        Churn();
        Console.WriteLine("collected: {0}", AliveOf(links) < 20);

        Console.WriteLine("running: {0}", RunAndDrop());

        Unary chain = Chain(10);
        Churn();
        Console.WriteLine("chain: {0}", chain(100));

        Exception thrown = Thrown();
        Churn();
        Console.WriteLine("trace: {0}", thrown.StackTrace.Contains("throwing"));

        for (int i = 0; i < 500; i++)
            if (Catching() != 499)
                throw new Exception("filter");
        Churn();
        Console.WriteLine("filters: {0}", Catching());

        DynamicMethod invoked = Adding(7);
        Console.WriteLine("invoked: {0}", invoked.Invoke(null, new object[] { 1 }));
        MethodInfo shown = Chain(1).Method;
        Churn();
        Console.WriteLine("shown: {0} {1} {2}", shown.Name, shown.Invoke(null, new object[] { 1 }), invoked.Invoke(null, new object[] { 2 }));

        WeakReference[] infos = ForgetShown(2000);
        Churn();
        Churn();
        Console.WriteLine("shown and collected: {0}", AliveOf(infos) < 20);

        long wrong = 0;
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            int first = i * 10000;
            threads[i] = new Thread(() => Interlocked.Add(ref wrong, MakeMany(first, 2000)));
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("threads: {0}", wrong);

        long sum = 0;
        for (int i = 0; i < 300; i++)
        {
            ParameterExpression x = Expression.Parameter(typeof(int), "x");
            var closure = new[] { i };
            Expression body = Expression.Add(x, Expression.ArrayIndex(Expression.Constant(closure), Expression.Constant(0)));
            sum += Expression.Lambda<Func<int, int>>(body, x).Compile()(1);
            if (i % 100 == 50)
                Churn();
        }
        Console.WriteLine("expressions: {0}", sum);
    }
}
