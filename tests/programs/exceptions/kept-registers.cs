// Variables that live on over calls that throw have their values in handlers and behind them, whatever frames the exception passes.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading.Tasks;

sealed class Thrown : Exception
{
    public readonly long Number;
    public Thrown(long number) { Number = number; }
}

sealed class Box
{
    public long Number;
    public Box Next;
    public Box(long number) { Number = number; }
}

struct Large
{
    public long A, B, C, D, E;
}

interface IThrower
{
    long Throw(int seed);
    long ThrowOf<T>(T value, int seed);
}

class Thrower : IThrower
{
    public virtual long Throw(int seed)
    {
        long busy = KeptRegisters.Busy(seed, 1);
        KeptRegisters.Fail(seed + 1);
        return busy;
    }

    public virtual long ThrowOf<T>(T value, int seed)
    {
        long busy = KeptRegisters.Busy(seed + value.GetHashCode(), 1);
        KeptRegisters.Fail(seed + 2);
        return busy + typeof(T).Name.Length;
    }
}

static class Failing<T>
{
    public static readonly long Number = KeptRegisters.Fail(5);
}

static class KeptRegisters
{
    static int failures;
    static long checks;
    static Box nothing;
    static int zero;
    static int[] few = { 1, 2, 3 };
    static object text = "text";

    // What variable number `index` of a test with this seed has.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long V(int seed, int index)
    {
        return unchecked((seed * 2654435761L + index * 40503L) ^ ((long)(index + 1) << 33));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Box O(int seed, int index)
    {
        return new Box(V(seed, index)) { Next = new Box(index) };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expect(string where, int seed, int index, long found)
    {
        checks++;
        if (found != V(seed, index))
        {
            failures++;
            if (failures < 20) Console.WriteLine("{0}: variable {1} of seed {2} is {3}", where, index, seed, found);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expect(string where, int seed, int index, Box found)
    {
        Expect(where, seed, index, found.Number);
        if (found.Next.Number != index)
        {
            failures++;
            Console.WriteLine("{0}: object {1} of seed {2} leads to {3}", where, index, seed, found.Next.Number);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Fail(long number)
    {
        if (number != long.MinValue) throw new Thrown(number);
        return number;
    }

    // Keeps more values over calls than there are registers.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Busy(int seed, int depth)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5), f = V(seed, 6);
        if (depth > 0)
        {
            long inner = Busy(seed + 1, depth - 1);
            return unchecked(a ^ b + c ^ d + e ^ f + inner);
        }
        GC.KeepAlive(new int[1]);
        return unchecked(a ^ b + c ^ d + e ^ f);
    }

    static long Recurse(int seed, int depth)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        Box box = O(seed, 6);
        if (depth == 0) Fail(seed);
        long inner = Recurse(seed + 1, depth - 1);
        return unchecked(a + b + c + d + e + box.Number + inner);
    }

    static long RecurseInRegions(int seed, int depth)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        Box box = O(seed, 6);
        long inner = 0;
        try
        {
            if (depth == 0) Fail(seed);
            inner = RecurseInRegions(seed + 1, depth - 1);
            d = 0;
        }
        finally
        {
            Expect("recursion", seed, 1, a);
            Expect("recursion", seed, 2, b);
            Expect("recursion", seed, 3, c);
            Expect("recursion", seed, 4, d);
            Expect("recursion", seed, 5, e);
            Expect("recursion", seed, 6, box);
        }
        return a + b + c + d + e + inner;
    }

    static long Rethrow(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        try
        {
            try { return Recurse(seed, 2); }
            catch (Thrown thrown)
            {
                Expect("rethrow", seed, 1, a);
                Expect("rethrow", seed, 2, b);
                if (thrown.Number == 0) return c;
                throw;
            }
        }
        finally
        {
            Expect("rethrow, finally", seed, 3, c);
            Expect("rethrow, finally", seed, 4, d);
            Expect("rethrow, finally", seed, 5, e);
            Expect("rethrow, finally", seed, 1, a);
        }
    }

    static bool Accepts(int seed, Thrown thrown, bool wanted)
    {
        Busy(seed, 2);
        try { Recurse(seed, 1); }
        catch (Thrown inner) { return wanted && inner.Number != thrown.Number + 1000000; }
        return false;
    }

    static long Filters(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        Box box = O(seed, 6);
        try
        {
            try { Recurse(seed, 3); }
            catch (Thrown thrown) when (Accepts(seed, thrown, false)) { return 0; }
            finally
            {
                Expect("filters, inner", seed, 1, a);
                Expect("filters, inner", seed, 2, b);
                Expect("filters, inner", seed, 6, box);
            }
        }
        catch (Thrown thrown) when (Accepts(seed, thrown, true))
        {
            Expect("filters", seed, 3, c);
            Expect("filters", seed, 4, d);
            Expect("filters", seed, 5, e);
            Expect("filters", seed, 6, box);
            Expect("filters", seed, 1, a);
            Fail(thrown.Number);
        }
        return b;
    }

    static IEnumerable<long> Numbers(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        try
        {
            yield return a;
            Busy(seed, 1);
            yield return b;
            Recurse(seed, 1);
            yield return c;
        }
        finally
        {
            Expect("iterator", seed, 1, a);
            Expect("iterator", seed, 2, b);
            Expect("iterator", seed, 3, c);
            Expect("iterator", seed, 4, d);
        }
    }

    static long Iterate(int seed)
    {
        long sum = 0, a = V(seed, 1), b = V(seed, 2), c = V(seed, 3);
        try
        {
            foreach (long number in Numbers(seed)) sum = unchecked(sum + number);
        }
        finally
        {
            if (sum != unchecked(a + b)) { failures++; Console.WriteLine("iterator: sum {0}", sum); }
            Expect("foreach", seed, 1, a);
            Expect("foreach", seed, 3, c);
        }
        return sum;
    }

    static async Task<long> Later(int seed, int depth)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        Box box = O(seed, 5);
        try
        {
            await Task.CompletedTask;
            if (depth == 0) return Recurse(seed, 1);
            if (depth % 2 == 0) await Task.Yield();
            return await Later(seed + 1, depth - 1);
        }
        finally
        {
            Expect("async", seed, 1, a);
            Expect("async", seed, 2, b);
            Expect("async", seed, 3, c);
            Expect("async", seed, 4, d);
            Expect("async", seed, 5, box);
        }
    }

    static long Many(int seed, long b, long c, long d, double x, long e, long f, long g, Box h, double y, Large large)
    {
        long busy = Busy(seed, 1);
        Fail(seed);
        return unchecked(busy + b + c + d + e + f + g + h.Number + large.C + (long)(x + y));
    }

    static Large Struct(int seed, Large large)
    {
        long busy = Busy(seed, 1);
        Fail(large.B);
        large.A = busy;
        return large;
    }

    static double Doubles(double x, int seed)
    {
        double y = V(seed, 2), z = V(seed, 3);
        long a = V(seed, 1);
        double w = Math.Sqrt(x) + Busy(seed, 0);
        Fail(seed);
        return x + y + z + w + a;
    }

    static readonly object door = new object();

    static long Locked(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3);
        lock (door)
        {
            lock (text) return unchecked(Recurse(seed, 1) + a + b + c);
        }
    }

    [MethodImpl(MethodImplOptions.Synchronized)]
    static long Synchronised(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3);
        return unchecked(Recurse(seed, 1) + a + b + c);
    }

    [DllImport("libc")]
    static extern void qsort(IntPtr items, IntPtr count, IntPtr size, Comparison compare);
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Comparison(IntPtr a, IntPtr b);

    static long Sorted(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        int caught = 0;
        int[] items = { 5, 3, 9, 1, 7 };
        GCHandle handle = GCHandle.Alloc(items, GCHandleType.Pinned);
        try
        {
            qsort(handle.AddrOfPinnedObject(), (IntPtr)items.Length, (IntPtr)4, (x, y) =>
            {
                int m = Marshal.ReadInt32(x), n = Marshal.ReadInt32(y);
                try { Recurse(seed, 2); }
                catch (Thrown) { caught++; }
                return m.CompareTo(n);
            });
            if (string.Join(",", items) != "1,3,5,7,9" || caught < 4) { failures++; Console.WriteLine("not sorted"); }
            return Fail(seed);
        }
        finally
        {
            handle.Free();
            Expect("native", seed, 1, a);
            Expect("native", seed, 2, b);
            Expect("native", seed, 3, c);
            Expect("native", seed, 4, d);
            Expect("native", seed, 5, e);
        }
    }

    // try { Recurse(seed, 1) } finally { Busy(seed, 0) } with values of its own around it.
    static Func<int, long> Emitted(bool faults)
    {
        var method = new DynamicMethod("emitted", typeof(long), new[] { typeof(int) }, typeof(KeptRegisters), true);
        ILGenerator il = method.GetILGenerator();
        BindingFlags all = BindingFlags.Static | BindingFlags.NonPublic | BindingFlags.Public;
        MethodInfo value = typeof(KeptRegisters).GetMethod("V", all), recurse = typeof(KeptRegisters).GetMethod("Recurse", all);
        MethodInfo busy = typeof(KeptRegisters).GetMethod("Busy", all);
        MethodInfo expect = typeof(KeptRegisters).GetMethod("Expect", all, null,
            new[] { typeof(string), typeof(int), typeof(int), typeof(long) }, null);
        var kept = new LocalBuilder[6];
        for (int i = 0; i < kept.Length; i++)
        {
            kept[i] = il.DeclareLocal(typeof(long));
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Call, value);
            il.Emit(OpCodes.Stloc, kept[i]);
        }
        LocalBuilder result = il.DeclareLocal(typeof(long));
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Call, recurse);
        il.Emit(OpCodes.Stloc, result);
        if (faults) il.BeginFaultBlock(); else il.BeginFinallyBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Call, busy);
        il.Emit(OpCodes.Pop);
        for (int i = 0; i < kept.Length; i++)
        {
            il.Emit(OpCodes.Ldstr, "emitted");
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Ldloc, kept[i]);
            il.Emit(OpCodes.Call, expect);
        }
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        return (Func<int, long>)method.CreateDelegate(typeof(Func<int, long>));
    }

    static long Null(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        long number = Busy(seed, 0) == 0 ? 1 : nothing.Number;
        return unchecked(a + b + c + d + number);
    }

    static long Divide(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        return unchecked(a + b + c + d + Busy(seed, 0) / zero);
    }

    static long Index(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        return unchecked(a + b + c + d + Busy(seed, 0) + few[zero + 3]);
    }

    static long Cast(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        return unchecked(a + b + c + d + Busy(seed, 0) + ((Box)text).Number);
    }

    static long Overflow(int seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4);
        return unchecked(a + b + c + d + Busy(seed, 0) + checked((byte)(zero + 256)));
    }

    // The exception of this callee.
    static void Around(string name, Func<int, long> callee, int seed)
    {
        long a = V(seed, 0), b = V(seed, 1), c = V(seed, 2);
        Box p = O(seed, 3), q = O(seed, 4), r = O(seed, 5);
        double x = V(seed, 6);
        int i = (int)V(seed, 7), j = (int)V(seed, 8);
        int caught = 0;
        try
        {
            long result = callee(seed);
            a = result;
            p = null;
        }
        catch (Exception)
        {
            caught++;
            Expect(name, seed, 0, a);
            Expect(name, seed, 3, p);
            Expect(name, seed, 5, r);
        }
        if (caught != 1) { failures++; Console.WriteLine("{0}: nothing caught", name); }
        Expect(name, seed, 0, a);
        Expect(name, seed, 1, b);
        Expect(name, seed, 2, c);
        Expect(name, seed, 3, p);
        Expect(name, seed, 4, q);
        Expect(name, seed, 5, r);
        if (x != V(seed, 6) || i != (int)V(seed, 7) || j != (int)V(seed, 8)) { failures++; Console.WriteLine("{0}: {1} {2} {3}", name, x, i, j); }
    }

    // Variables that change in the region, in nested finally clauses, in a loop.
    static long Loop(string name, Func<int, long> callee, int seed)
    {
        long a = 0, b = 1, c = 2, d = 3, e = 5, f = 7;
        Box list = null;
        double x = 0.5;
        for (int round = 0; round < 6; round++)
        {
            try
            {
                a += round;
                try
                {
                    b += a;
                    try
                    {
                        c ^= b;
                        callee(seed + round);
                        c = 0;
                    }
                    finally
                    {
                        d = unchecked(d * 3 + c);
                        list = new Box(d) { Next = list };
                    }
                    b = 0;
                }
                finally
                {
                    e = unchecked(e + d * 5);
                    x = x * 1.5 + round;
                    Busy(round, 0);
                }
                a = 0;
            }
            catch (Exception)
            {
                f = unchecked(f * 31 + a + b + c + d + e);
            }
            list.Number += f;
        }
        long sum = unchecked(a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13 + (long)(x * 16));
        for (; list != null; list = list.Next) sum = unchecked(sum * 31 + list.Number);
        return sum;
    }

    static void Main()
    {
        IThrower thrower = new Thrower();
        Func<int, long> last = seed => Recurse(seed, 0);
        Func<int, long> several = seed => Busy(seed, 1);
        several += last;
        MethodInfo recurse = typeof(KeptRegisters).GetMethod("Recurse", BindingFlags.Static | BindingFlags.NonPublic);
        MethodInfo virtually = typeof(IThrower).GetMethod("Throw");
        var open = (Func<IThrower, int, long>)Delegate.CreateDelegate(typeof(Func<IThrower, int, long>), virtually);
        Large large = new Large { A = 1, B = 2, C = 3, D = 4, E = 5 };
        var callees = new List<KeyValuePair<string, Func<int, long>>>();
        Action<string, Func<int, long>> add = (name, callee) => callees.Add(new KeyValuePair<string, Func<int, long>>(name, callee));
        add("throw", seed => Fail(seed));
        add("recursion", seed => Recurse(seed, 7));
        add("recursion in regions", seed => RecurseInRegions(seed, 5));
        add("rethrow", Rethrow);
        add("filters", Filters);
        add("multicast", several);
        add("interface", thrower.Throw);
        add("open", seed => open(thrower, seed));
        add("generic of reference", seed => thrower.ThrowOf("x", seed));
        add("generic of value", seed => thrower.ThrowOf(7L, seed));
        add("closure", seed => { long a = V(seed, 1), b = V(seed, 2); Func<long> f = () => Recurse(seed, 1) + a; return f() + b; });
        add("iterator", Iterate);
        add("async", seed => Later(seed, 0).GetAwaiter().GetResult());
        add("async later", seed => Later(seed, 3).Result);
        add("many", seed => Many(seed, 2, 3, 4, 5.0, 6, 7, 8, O(seed, 9), 1.5, large));
        add("struct", seed => Struct(seed, large).A);
        add("doubles", seed => (long)Doubles(seed + 0.5, seed));
        add("lock", Locked);
        add("synchronised", Synchronised);
        add("native", Sorted);
        add("emitted finally", Emitted(false));
        add("emitted fault", Emitted(true));
        add("invoke", seed => (long)recurse.Invoke(null, new object[] { seed, 2 }));
        add("dynamic invoke", seed => (long)last.DynamicInvoke(seed));
        add("null", Null);
        add("divide", Divide);
        add("index", Index);
        add("cast", Cast);
        add("overflow", Overflow);
        add("class constructor", seed => Failing<int>.Number);
        add("class constructor of reference", seed => Failing<string>.Number);
        add("activator", seed => { Activator.CreateInstance(typeof(List<int>), -1); return seed; });
        foreach (var callee in callees)
        {
            long sum = 0;
            for (int seed = 1; seed <= 12; seed++)
            {
                Around(callee.Key, callee.Value, seed);
                sum = unchecked(sum * 7 + Loop(callee.Key, callee.Value, seed));
            }
            Console.WriteLine("{0}: {1:x}", callee.Key, sum);
        }
        Console.WriteLine("{0} failures, {1}", failures, checks > 10000 ? "many checks" : "few checks");
    }
}
