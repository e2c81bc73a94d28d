// Variables keep their values over calls that end by a stack overflow, an abort or an exception of a finally clause, and where methods with regions are inlined.
// net: skip threads cannot be aborted there, and a stack overflow ends the process
using System;
using System.Runtime.CompilerServices;
using System.Threading;

sealed class Node
{
    public long Number;
    public Node Next;
}

static class KeptRegistersEnds
{
    static int failures, ready;
    static long checks;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long V(long seed, int index)
    {
        return unchecked((seed * 2654435761L + index * 40503L) ^ ((long)(index + 1) << 33));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Node O(long seed, int index)
    {
        return new Node { Number = V(seed, index) };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expect(string where, long seed, int index, long found)
    {
        checks++;
        if (found == V(seed, index)) return;
        failures++;
        if (failures < 20) Console.WriteLine("{0}: variable {1} of seed {2} is {3}", where, index, seed, found);
    }

    // Without end, by frames that keep values in registers.
    static long Deep(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        long inner = Deep(seed + 1);
        return unchecked(a + b * 3 + c * 5 + d * 7 + e * 9 + inner);
    }

    static long DeepInRegions(long seed, long limit)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        long inner = 0;
        try
        {
            inner = DeepInRegions(seed + 1, limit);
        }
        finally
        {
            if (seed < limit)
            {
                Expect("deep", seed, 1, a);
                Expect("deep", seed, 2, b);
                Expect("deep", seed, 3, c);
                Expect("deep", seed, 4, d);
                Expect("deep", seed, 5, e);
            }
        }
        return unchecked(a + b * 3 + c * 5 + d * 7 + e * 9 + inner);
    }

    struct Big
    {
        public long A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P;
    }

    struct Bigger
    {
        public Big A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P;
    }

    struct Biggest
    {
        public Bigger A, B, C, D, E, F, G, H;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Touch(ref Biggest big, long seed) { big.H.P.P = seed; big.A.A.A = seed; }

    // Frames that are larger than what is left of the stack.
    static long DeepAndLarge(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        Biggest big = new Biggest();
        Touch(ref big, seed);
        long inner = DeepAndLarge(seed + 1);
        return unchecked(a + b * 3 + c * 5 + d * 7 + e * 9 + inner + big.A.A.A);
    }

    static void Overflow(string name, int kind, long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5), f = V(seed, 6);
        Node p = O(seed, 7), q = O(seed, 8);
        bool caught = false;
        try
        {
            if (kind == 0) a = Deep(seed);
            else if (kind == 1) a = DeepInRegions(seed, seed + 500);
            else a = DeepAndLarge(seed);
        }
        catch (StackOverflowException)
        {
            caught = true;
            Expect(name, seed, 1, a);
            Expect(name, seed, 7, p.Number);
        }
        if (!caught) { failures++; Console.WriteLine("{0}: nothing caught", name); }
        Expect(name, seed, 1, a);
        Expect(name, seed, 2, b);
        Expect(name, seed, 3, c);
        Expect(name, seed, 4, d);
        Expect(name, seed, 5, e);
        Expect(name, seed, 6, f);
        Expect(name, seed, 7, p.Number);
        Expect(name, seed, 8, q.Number);
    }

    // Until it is aborted.
    static long Spin(long seed, int depth)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        if (depth > 0) return unchecked(Spin(seed + 1, depth - 1) + a + b + c + d + e);
        Volatile.Write(ref ready, 1);
        for (long round = 0; ; round++)
        {
            a = unchecked(a * 3 + b);
            b ^= c;
            c = unchecked(c + d);
            d ^= e + round;
            if (a == 1 && b == 2 && c == 3 && d == 4) return e;
        }
    }

    static void Aborted(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        Node p = O(seed, 6);
        try
        {
            try
            {
                a = Spin(seed, 4);
            }
            finally
            {
                Expect("abort, finally", seed, 1, a);
                Expect("abort, finally", seed, 2, b);
                Expect("abort, finally", seed, 6, p.Number);
            }
        }
        catch (ThreadAbortException)
        {
            Thread.ResetAbort();
            Expect("abort", seed, 3, c);
            Expect("abort", seed, 4, d);
        }
        Expect("abort", seed, 1, a);
        Expect("abort", seed, 2, b);
        Expect("abort", seed, 3, c);
        Expect("abort", seed, 4, d);
        Expect("abort", seed, 5, e);
        Expect("abort", seed, 6, p.Number);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Fail(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        long number = V(seed + 1, 1);
        if (number != long.MinValue) throw new InvalidOperationException(seed.ToString());
        return unchecked(a + b * 3 + c * 5 + d * 7 + e * 9);
    }

    // Its finally clauses throw, too.
    static long Replaced(long seed, ref long trail)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5);
        try
        {
            try
            {
                try { return Fail(seed); }
                finally { Expect("replaced", seed, 1, a); trail = unchecked(trail * 3 + b); Fail(seed + 1); }
            }
            finally { Expect("replaced", seed, 3, c); trail = unchecked(trail * 5 + d); Fail(seed + 2); }
        }
        finally { Expect("replaced", seed, 5, e); trail = unchecked(trail * 7 + a); }
    }

    // Small enough to be part of its callers.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static long Caught(long seed, long otherwise)
    {
        try { return Fail(seed); }
        catch (InvalidOperationException) { return otherwise; }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static long Counted(long seed, ref long count)
    {
        try { return Fail(seed); }
        finally { count++; }
    }

    static void Inlined(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), d = V(seed, 4), e = V(seed, 5), f = V(seed, 6), count = 0;
        Node p = O(seed, 7);
        a = Caught(seed + 1, a);
        b = Caught(seed + 2, b);
        try
        {
            c = Caught(seed + 3, c);
            d = Counted(seed + 4, ref count);
        }
        catch (InvalidOperationException thrown)
        {
            Expect("inlined", seed, 1, a);
            e = thrown.Message == (seed + 4).ToString() ? Caught(seed + 5, e) : 0;
            p.Next = new Node { Number = f };
        }
        if (count != 1) failures++;
        Expect("inlined", seed, 1, a);
        Expect("inlined", seed, 2, b);
        Expect("inlined", seed, 3, c);
        Expect("inlined", seed, 4, d);
        Expect("inlined", seed, 5, e);
        Expect("inlined", seed, 6, f);
        Expect("inlined", seed, 7, p.Number);
        Expect("inlined", seed, 6, p.Next.Number);
    }

    static void Replacements(long seed)
    {
        long a = V(seed, 1), b = V(seed, 2), c = V(seed, 3), trail = 1;
        try
        {
            Replaced(seed, ref trail);
        }
        catch (InvalidOperationException thrown) when (thrown.Message == (seed + 2).ToString())
        {
            Expect("replacements", seed, 1, a);
            Expect("replacements", seed, 2, b);
        }
        long wanted = unchecked(((3 + V(seed, 2)) * 5 + V(seed, 4)) * 7 + V(seed, 1));
        if (trail != wanted) { failures++; Console.WriteLine("trail {0}", trail); }
        Expect("replacements", seed, 1, a);
        Expect("replacements", seed, 2, b);
        Expect("replacements", seed, 3, c);
    }

    static void Main()
    {
        var overflowing = new Thread(() =>
        {
            for (int round = 0; round < 3; round++)
            {
                Overflow("overflow", 0, 100 * round);
                Overflow("overflow in regions", 1, 100 * round);
                Overflow("overflow of large frames", 2, 100 * round);
            }
        }, 256 << 10);
        overflowing.Start();
        overflowing.Join();
        Console.WriteLine("overflows: {0}", failures);
        for (int round = 0; round < 10; round++)
        {
            Volatile.Write(ref ready, 0);
            var thread = new Thread(() => Aborted(round));
            thread.Start();
            while (Volatile.Read(ref ready) == 0) Thread.Sleep(1);
            thread.Abort();
            thread.Join();
        }
        Console.WriteLine("aborts: {0}", failures);
        for (int seed = 0; seed < 100; seed++)
        {
            Replacements(seed);
            Inlined(seed);
        }
        Console.WriteLine("{0} failures, {1}", failures, checks > 4000 ? "many checks" : "few checks");
    }
}
