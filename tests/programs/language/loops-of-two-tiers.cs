// Loops that begin in code of the first tier and go on in code of the second: variables of all kinds, addresses of
// variables, protected regions, results of all kinds, exceptions and their traces.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
// mcs: -unsafe
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Runtime.CompilerServices;

static class Program
{
    // The compiler works in the background: long enough for it, whatever the machine.
    const int Rounds = 3000000;

    struct Point { public int X; public long Y; public string Name; public Point(int x, long y, string n) { X = x; Y = y; Name = n; } }
    struct Big { public long A, B, C, D, E; public object F; }

    static long Scalars(int a, long b, float c, double d, byte e, short f, char g, bool h, string s, object o)
    {
        long sum = 0; float x = c; double y = d; byte small = e; short other = f; char letter = g; bool flag = h; uint u = 1; ulong w = 2;
        for (int i = 0; i < Rounds; i++)
        {
            sum += a + b; x += 0.25f; y -= 0.5; small += 3; other -= 7; letter++; flag = !flag; u = u * 3 + 1; w ^= w << 13; w ^= w >> 7;
        }
        Console.WriteLine(x + " " + y + " " + small + " " + other + " " + (int)letter + " " + flag + " " + u + " " + w + " " + s + " " + o);
        return sum;
    }

    static Point Structs(Point p, Big big, int more)
    {
        Point q = new Point(1, 2, "q");
        for (int i = 0; i < Rounds; i++)
        {
            p.X += more; p.Y += q.X; q.X ^= i; big.C += p.X; q.Name = p.Name;
        }
        Console.WriteLine(big.A + " " + big.C + " " + big.F + " " + q.X + " " + q.Name);
        return p;
    }

    static Big ManyWords(int from)
    {
        var big = new Big { A = from, F = "f" };
        for (int i = 0; i < Rounds; i++) { big.A += i; big.E ^= big.A; }
        return big;
    }

    static void Change(ref int x) { x += 2; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Out(out long x, int i) { x = i; }

    static int Addresses(int argument)
    {
        int local = 1; long result = 0; ref int alias = ref local; ref int ofArgument = ref argument;
        for (int i = 0; i < Rounds; i++)
        {
            Change(ref local); alias++; ofArgument--; Change(ref argument); Out(out long here, i); result += here;
        }
        Console.WriteLine(local + " " + alias + " " + argument + " " + ofArgument + " " + result);
        return local;
    }

    static unsafe long Pointers(int count)
    {
        int x = 5; int* p = &x; long* stack = stackalloc long[4]; int[] array = new int[16]; long sum = 0;
        fixed (int* pinned = array)
            for (int i = 0; i < count; i++) { *p += i; stack[i & 3] += x; pinned[i & 15] += *p; sum += stack[(i + 1) & 3]; }
        return sum + x + array.Sum(v => (long)v);
    }

    static unsafe int* escaped;
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe void Keep(int* p) { escaped = p; }
    [MethodImpl(MethodImplOptions.NoInlining)] static unsafe void Add() { *escaped += 1; }

    static unsafe int KeptElsewhere()
    {
        int counted = 0;
        Keep(&counted);
        for (int i = 0; i < Rounds; i++) Add();
        return counted;
    }

    static int Protected(int count)
    {
        int caught = 0, done = 0;
        for (int i = 0; i < count; i++)
        {
            try
            {
                if (i % 1000 == 999) throw new InvalidOperationException("round");
                done++;
            }
            catch (InvalidOperationException) { caught++; }
            finally { done += 2; }
        }
        return caught * 1000000 + done % 1000000;
    }

    static int LoopInTry(int count)
    {
        int i = 0, left = 0;
        try
        {
            try { for (; ; i++) if (i == count) throw new ArgumentException("after " + (count > 0)); }
            finally { left++; }
        }
        catch (ArgumentException e) { return e.Message == "after True" && i == count ? left : -1; }
    }

    static int LoopInHandler(int count)
    {
        int n = 0;
        try { throw new Exception("first"); }
        catch (Exception e) { for (int i = 0; i < count; i++) n += e.Message.Length; }
        finally { for (int i = 0; i < count; i++) n ^= i; }
        return n;
    }

    static int InnerAndOuter(int outer)
    {
        int n = 0;
        for (int i = 0; i < outer; i++)
            for (int j = 0; j < 1000; j++)
                for (int k = 0; k < 3; k++) n = n * 31 + i ^ j + k;
        return n;
    }

    class Counter<T> where T : IComparable<T>
    {
        public int Seen; readonly T limit;
        public Counter(T limit) { this.limit = limit; }
        public int Count(IEnumerable<T> values) { int smaller = 0; foreach (T v in values) { Seen++; if (v.CompareTo(limit) < 0) smaller++; } return smaller; }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throws(int i) { if (i == Rounds - 1) throw new ApplicationException("at the end"); }
    static void LoopThatThrows() { for (int i = 0; ; i++) Throws(i); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Depth(int i) { return i == Rounds - 1 ? new StackTrace().FrameCount : 0; }
    static int LoopThatLooks() { int depth = 0; for (int i = 0; i < Rounds; i++) depth += Depth(i); return depth; }

    static double Doubles(double x) { for (int i = 0; i < Rounds; i++) x = x * 0.999 + 1; return Math.Round(x, 6); }
    static float Floats(float x) { for (int i = 0; i < Rounds; i++) x = x * 0.5f + 1; return x; }
    static string Strings(string s) { int n = 0; for (int i = 0; i < Rounds; i++) n += s.Length; return s + n; }
    static bool Bools(int x) { bool b = false; for (int i = 0; i < Rounds; i++) b ^= (i & x) != 0; return b; }
    static decimal Decimals(int count) { decimal d = 0; for (int i = 0; i < count; i++) d += i * 0.01m; return d; }
    static int? Nullables(int count) { int? n = null; for (int i = 0; i < count; i++) n = (n ?? 0) + i; return n; }

    static int Recursive(int depth)
    {
        int n = 0;
        for (int i = 0; i < 2000; i++) n += i & depth;
        return depth == 0 ? n : n + Recursive(depth - 1);
    }

    static IEnumerable<int> Yielded(int count) { for (int i = 0; i < count; i++) yield return i; }

    static int Main()
    {
        Console.WriteLine(Scalars(1, 2, 3, 4, 5, 6, 'a', false, "text", 7));
        var p = Structs(new Point(3, 4, "p"), new Big { A = 9, F = "big" }, 2);
        Console.WriteLine(p.X + " " + p.Y + " " + p.Name);
        var big = ManyWords(3);
        Console.WriteLine(big.A + " " + big.E + " " + big.F);
        Console.WriteLine(Addresses(100));
        Console.WriteLine(Pointers(Rounds) + " " + KeptElsewhere());
        Console.WriteLine(Protected(100000) + " " + LoopInTry(Rounds) + " " + LoopInHandler(Rounds));
        Console.WriteLine(InnerAndOuter(1000));
        var counter = new Counter<int>(10);
        Console.WriteLine(counter.Count(Yielded(Rounds)) + " " + counter.Seen);
        try { LoopThatThrows(); }
        catch (ApplicationException e)
        {
            var frames = new StackTrace(e).GetFrames().Select(f => f.GetMethod().Name);
            Console.WriteLine(e.Message + ": " + string.Join(" ", frames));
        }
        Console.WriteLine(LoopThatLooks());
        Console.WriteLine(Doubles(1) + " " + Floats(1) + " " + Strings("abc") + " " + Bools(4));
        Console.WriteLine(Decimals(100000) + " " + Nullables(Rounds / 100));
        Console.WriteLine(Recursive(50));
        int sum = 0;
        var list = Enumerable.Range(0, 1000).ToList();
        for (int i = 0; i < 300; i++) foreach (int x in list) { int y = x; Func<int> f = () => y + x; sum += f(); }
        Console.WriteLine(sum);
        return 0;
    }
}
