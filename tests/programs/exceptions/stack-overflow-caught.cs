// Stack overflow is an exception that a program can catch: in callers, in finally blocks, through filters, again and again,
// in handlers of an overflow, with large frames and in code that is compiled for the first time there.
// mcs: -unsafe
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

class Program {
    static int depth, finallys, filters;

    static int Down(int n) { depth = n; return Down(n + 1) + 1; }

    static int DownWithFinally(int n) {
        try { return DownWithFinally(n + 1) + 1; } finally { finallys++; Leave(); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Leave() { }

    static int DownWithOtherCatch(int n) {
        try { return DownWithOtherCatch(n + 1) + 1; } catch (ArgumentException) { return -1; }
    }

    static bool Accept(Exception e) { filters++; return e is ArgumentException; }

    static int DownWithFilters(int n) {
        try { return DownWithFilters(n + 1) + 1; } catch (Exception e) when (Accept(e)) { return -1; }
    }

    static int DownAndRethrow(int n) {
        try { return DownAndRethrow(n + 1) + 1; } catch (StackOverflowException) { throw; }
    }

    static unsafe int DownWithLargeFrames(int n) {
        Large large; large.bytes[0] = 1; large.bytes[n % 300000] = 2;
        return DownWithLargeFrames(n + 1) + large.bytes[0];
    }

    static unsafe int LargerThanTheStack(int n) {
        Larger larger; larger.bytes[n] = 1;
        return LargerThanTheStack(n + 1) + larger.bytes[0];
    }

    unsafe struct Larger { public fixed byte bytes[2000000]; }

    unsafe struct Large { public fixed byte bytes[300000]; }

    static unsafe int DownWithStackalloc(int n) {
        byte* p = stackalloc byte[n % 5000 + 1];
        p[0] = 1;
        return DownWithStackalloc(n + 1) + p[0];
    }

    static int DownInLoop(int n) {
        int sum = 0;
        for (int i = 0; i < 3; i++) sum += DownInLoop(n + 1);
        return sum;
    }

    interface IDown { int Go(int n); }
    class A : IDown { public IDown other; public virtual int Go(int n) { return other.Go(n + 1) + 1; } }
    class B : A { public override int Go(int n) { return base.Go(n + 1) + 1; } }

    class Node { public Node next; public override string ToString() { return "n" + next; } }

    class Equal { public override bool Equals(object o) { return o.Equals(this); } public override int GetHashCode() { return GetHashCode() + 1; } }

    static void AllocateDeep(List<object> list, int n) { list.Add(new int[n % 10]); AllocateDeep(list, n + 1); list.Add(null); }

    static void Check(string what, Action action) {
        for (int i = 0; i < 3; i++) {
            try {
                action();
                Console.WriteLine(what + ": nothing");
            } catch (StackOverflowException e) {
                if (i == 2) Console.WriteLine(what + ": " + e.Message + " " + (e.InnerException == null));
            } catch (Exception e) {
                Console.WriteLine(what + ": " + e.GetType() + ": " + e.Message);
            }
        }
    }

    static void Main() {
        Check("recursion", () => Down(0));
        Console.WriteLine(depth > 10000);
        // Under stress the collections in deep stacks would take minutes.
        var rest = new Thread(Rest, 512 << 10);
        rest.Start();
        rest.Join();
        GC.Collect();
        StackTraces();
    }

    static void Rest() {
        Check("finally", () => DownWithFinally(0));
        Console.WriteLine(finallys > 5000);
        Check("other catch", () => DownWithOtherCatch(0));
        Check("filter", () => DownWithFilters(0));
        Console.WriteLine(filters > 5000);
        Check("rethrow", () => DownAndRethrow(0));
        Check("large frames", () => DownWithLargeFrames(0));
        Check("larger than the stack", () => LargerThanTheStack(0));
        Check("stackalloc", () => DownWithStackalloc(0));
        Check("virtual calls", () => { var a = new A(); a.other = new B { other = a }; a.Go(0); });
        Check("string building", () => { var n = new Node(); n.next = n; n.ToString(); });
        Check("equality", () => { var e = new Equal(); e.Equals(new Equal()); });
        Check("hash codes", () => new Equal().GetHashCode());
        Check("allocation", () => AllocateDeep(new List<object>(), 0));
        Func<int, int> f = null;
        f = n => f(n + 1) + 1;
        Check("delegates", () => f(0));
        Comparison<int> compare = null;
        compare = (a, b) => { var l = new List<int> { 2, 1 }; l.Sort(compare); return 0; };
        try { new List<int> { 1, 2 }.Sort(compare); } catch (Exception e) { Console.WriteLine("sort: " + Innermost(e)); }
        MethodInfo reflected = typeof(Program).GetMethod("Reflected", BindingFlags.Static | BindingFlags.NonPublic);
        try { Reflected(reflected); } catch (Exception e) { Console.WriteLine("reflection: " + Innermost(e)); }
        try { DownInHandlers(0); } catch (StackOverflowException) { Console.WriteLine("handlers: caught"); }
        Monitors();
        int caught = 0;
        for (int i = 0; i < 50; i++) try { Down(0); } catch (StackOverflowException) { caught++; }
        Console.WriteLine("again: " + caught);
    }

    static string Innermost(Exception e) {
        while (e.InnerException != null) e = e.InnerException;
        return e.GetType().Name;
    }

    static void Reflected(MethodInfo m) { m.Invoke(null, new object[] { m }); }

    // Each handler runs into the end of the stack again.
    static void DownInHandlers(int n) {
        try { DownInHandlers(n + 1); } catch (StackOverflowException) { if (n % 2000 == 1) Down(0); throw; }
    }

    static readonly object gate = new object();

    static void Locked(int n) { lock (gate) { Locked(n + 1); } depth++; }

    [MethodImpl(MethodImplOptions.Synchronized)]
    static void Synchronized(int n) { Synchronized(n + 1); depth++; }

    static void Monitors() {
        Check("lock", () => Locked(0));
        Check("synchronized", () => Synchronized(0));
        bool free = false;
        var t = new Thread(() => {
            bool first = Monitor.TryEnter(gate, 1000), second = Monitor.TryEnter(typeof(Program), 1000);
            free = first && second;
        });
        t.Start();
        t.Join();
        Console.WriteLine("locks are free: " + free);
    }

    static void StackTraces() {
        try { Down(0); } catch (StackOverflowException e) {
            string[] lines = e.StackTrace.Split('\n');
            Console.WriteLine("trace: " + lines[0].Contains("Program.Down") + " " + (lines.Length > 10));
        }
    }
}
