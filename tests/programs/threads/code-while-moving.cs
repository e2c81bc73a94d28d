// Methods are made, compiled, compiled anew when they are hot, and called by all threads, while every thread of the process is
// moved from processor to processor: whoever fetches an instruction finds the newest or the one before, on every processor.
// `code-while-moving.exe SECONDS` goes on for so long and drops old methods; without it, each thread makes a few and all are kept.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;

interface IStep { long Step(long x); }
struct Add : IStep { public long Step(long x) { return x + 77; } }
struct Turn : IStep { public long Step(long x) { return x ^ (x << 7); } }
struct Times : IStep { public long Step(long x) { return x * 31 - 1; } }
struct Both<A, B> : IStep where A : struct, IStep where B : struct, IStep
{
    public long Step(long x) { return default(B).Step(default(A).Step(x)); }
}

abstract class Runner
{
    public int Number;
    public abstract long Run(long x);
}

class Runner<T> : Runner where T : struct, IStep
{
    public override long Run(long x) { return default(T).Step(x) + Number; }
}

// A dynamic method, and what it must answer.
sealed class Made
{
    public Func<long, long> Call;
    public DynamicMethod Method;
    public Made Inner;
    public int Depth;
    public long Factor, Mask;

    static readonly Type[] parameters = { typeof(long) };

    public Made(long factor, long mask, Made inner)
    {
        Factor = factor;
        Mask = mask;
        Inner = inner;
        Depth = inner == null ? 0 : inner.Depth + 1;
        Method = new DynamicMethod("made", typeof(long), parameters, typeof(CodeWhileMoving));
        var il = Method.GetILGenerator();
        var r = il.DeclareLocal(typeof(long));
        var i = il.DeclareLocal(typeof(int));
        // r = Mix(x * Factor ^ Mask)
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I8, factor);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ldc_I8, mask);
        il.Emit(OpCodes.Xor);
        il.Emit(OpCodes.Call, typeof(CodeWhileMoving).GetMethod("Mix"));
        il.Emit(OpCodes.Stloc, r);
        // try { r += Mask / (x & 7); } catch (DivideByZeroException) { r ^= Factor; }
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldc_I8, mask);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_7);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.And);
        il.Emit(OpCodes.Div);
        il.Emit(OpCodes.Ldloc, r);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, r);
        il.BeginCatchBlock(typeof(DivideByZeroException));
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldloc, r);
        il.Emit(OpCodes.Ldc_I8, factor);
        il.Emit(OpCodes.Xor);
        il.Emit(OpCodes.Stloc, r);
        il.EndExceptionBlock();
        if (inner != null)
        {
            // r -= inner(x + 1)
            il.Emit(OpCodes.Ldloc, r);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Conv_I8);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Call, inner.Method);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Stloc, r);
        }
        // do { r = r * 31 + i; i++; } while (i < 8);
        var again = il.DefineLabel();
        il.MarkLabel(again);
        il.Emit(OpCodes.Ldloc, r);
        il.Emit(OpCodes.Ldc_I4, 31);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Conv_I8);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, r);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Add);
        il.Emit(OpCodes.Stloc, i);
        il.Emit(OpCodes.Ldloc, i);
        il.Emit(OpCodes.Ldc_I4_8);
        il.Emit(OpCodes.Blt, again);
        il.Emit(OpCodes.Ldloc, r);
        il.Emit(OpCodes.Ret);
        Call = (Func<long, long>)Method.CreateDelegate(typeof(Func<long, long>));
    }

    public long Expected(long x)
    {
        long r = x * Factor ^ Mask;
        r = r + (r >> 5) * 3;
        r = (x & 7) == 0 ? r ^ Factor : r + Mask / (x & 7);
        if (Inner != null) r -= Inner.Expected(x + 1);
        for (int i = 0; i < 8; i++) r = r * 31 + i;
        return r;
    }
}

public static class CodeWhileMoving
{
    [DllImport("libc", SetLastError = true)]
    static extern int sched_getaffinity(int thread, IntPtr size, ulong[] mask);

    [DllImport("libc", SetLastError = true)]
    static extern int sched_setaffinity(int thread, IntPtr size, ulong[] mask);

    const int Workers = 6, Depth = 3, Digits = 6, Kinds = 729;
    static readonly int[] processors = Allowed();
    static readonly Made[] made = new Made[64];
    static readonly Runner[] runners = new Runner[64];
    static readonly List<Made> kept = new List<Made>();
    static readonly Stopwatch clock = Stopwatch.StartNew();
    static long seconds, calls, methods, moves, refusals, wrong;
    static int kinds;
    static volatile bool stop;

    public static long Mix(long r) { return r + (r >> 5) * 3; }

    static int[] Allowed()
    {
        var mask = new ulong[16];
        var found = new List<int>();
        if (sched_getaffinity(0, (IntPtr)(mask.Length * 8), mask) >= 0)
            for (int n = 0; n < mask.Length * 64; n++)
                if ((mask[n / 64] >> n % 64 & 1) != 0) found.Add(n);
        return found.ToArray();
    }

    static ulong Next(ref ulong state)
    {
        state ^= state << 13;
        state ^= state >> 7;
        return state ^= state << 17;
    }

    // Thread 0 is the caller's.
    static void Move(int thread, ulong number)
    {
        if (processors.Length == 0) return;
        var mask = new ulong[16];
        int processor = processors[(int)(number % (ulong)processors.Length)];
        mask[processor / 64] = 1UL << processor % 64;
        if (sched_setaffinity(thread, (IntPtr)(mask.Length * 8), mask) == 0) Interlocked.Increment(ref moves);
        // 3: the thread is gone.
        else if (Marshal.GetLastWin32Error() != 3) Interlocked.Increment(ref refusals);
    }

    static void MoveAll()
    {
        for (ulong state = 99; !stop; Thread.Sleep(1))
            foreach (var folder in Directory.GetDirectories("/proc/self/task"))
                Move(int.Parse(Path.GetFileName(folder)), Next(ref state) >> 20);
    }

    // The digits of the number to the base of 3 are the steps.
    static Runner MakeRunner(int number)
    {
        var steps = new[] { typeof(Add), typeof(Turn), typeof(Times) };
        var type = steps[number % 3];
        for (int digit = 1, rest = number / 3; digit < Digits; digit++, rest /= 3)
            type = typeof(Both<,>).MakeGenericType(type, steps[rest % 3]);
        var runner = (Runner)Activator.CreateInstance(typeof(Runner<>).MakeGenericType(type));
        runner.Number = number;
        return runner;
    }

    static long ExpectedOfRunner(int number, long x)
    {
        for (int digit = 0, rest = number; digit < Digits; digit++, rest /= 3)
            x = rest % 3 == 0 ? x + 77 : rest % 3 == 1 ? x ^ (x << 7) : x * 31 - 1;
        return x + number;
    }

    static void Check(long found, long expected)
    {
        if (found != expected) Interlocked.Increment(ref wrong);
    }

    static void Work(int worker)
    {
        ulong state = 0x9e3779b97f4a7c15UL * (ulong)(worker + 1);
        long done = 0;
        for (int round = 0; seconds > 0 ? clock.ElapsedMilliseconds < seconds * 1000 : round < 24; round++)
        {
            var inner = made[Next(ref state) % 64];
            if (inner != null && inner.Depth == Depth) inner = null;
            var method = new Made((long)Next(ref state), (long)Next(ref state), inner);
            long x = (long)Next(ref state);
            // Compiled on one processor, run on another.
            var first = method.Call;
            Check(first(x), method.Expected(x));
            Move(0, Next(ref state) >> 20);
            Check(first(8), method.Expected(8));
            made[Next(ref state) % 64] = method;
            if (seconds == 0) lock (kept) kept.Add(method);
            Interlocked.Increment(ref methods);
            if (round % 4 == 0)
            {
                int kind = Interlocked.Increment(ref kinds) * 2 % Kinds;
                runners[Next(ref state) % 64] = MakeRunner(kind);
            }
            for (int call = 0; call < 300; call++, done++)
            {
                x = (long)(Next(ref state) >> 3) | 1;
                if (call % 64 == 0) x = x << 3;
                var other = made[Next(ref state) % 64];
                if (other != null) Check(other.Call(x), other.Expected(x));
                var runner = runners[Next(ref state) % 64];
                if (runner != null) Check(runner.Run(x), ExpectedOfRunner(runner.Number, x));
            }
            if (worker == 0 && round % 64 == 63) GC.Collect();
        }
        Interlocked.Add(ref calls, done);
    }

    static int Main(string[] arguments)
    {
        if (arguments.Length > 0) seconds = long.Parse(arguments[0]);
        var mover = new Thread(MoveAll);
        mover.Start();
        var workers = new Thread[Workers];
        for (int i = 0; i < Workers; i++)
        {
            int worker = i;
            workers[i] = new Thread(() => Work(worker));
            workers[i].Start();
        }
        foreach (var worker in workers) worker.Join();
        stop = true;
        mover.Join();
        if (seconds > 0)
            Console.WriteLine("{0} methods, {1} kinds, {2} rounds of calls, {3} moves among {4} processors", methods, kinds, calls, moves, processors.Length);
        Console.WriteLine("wrong answers: {0}", wrong);
        Console.WriteLine("moved: {0}", moves > 0 && refusals == 0);
        return wrong == 0 ? 0 : 1;
    }
}
