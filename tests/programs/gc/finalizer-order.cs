// Critical finalizers run after normal ones; suppression and re-registration; nested finalizable objects; objects made by
// finalizers; the finalizer thread waiting for itself; finalizers at exit.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ConstrainedExecution;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

static class Log
{
    static readonly List<string> lines = new List<string>();
    public static void Add(string line) { lock (lines) lines.Add(line); }
    public static List<string> Take()
    {
        lock (lines)
        {
            var copy = new List<string>(lines);
            lines.Clear();
            return copy;
        }
    }
}

class Normal { ~Normal() { Log.Add("normal"); } }
class Critical : CriticalFinalizerObject { ~Critical() { Log.Add("critical"); } }

class Waiter { ~Waiter() { GC.WaitForPendingFinalizers(); Log.Add("waited"); } }

class Parent
{
    readonly Child child = new Child();
    ~Parent() { Log.Add("parent sees " + child.Name); }
}

class Child
{
    public string Name = "child";
    ~Child() { Log.Add("child"); }
}

class Chain
{
    readonly int rest;
    public Chain(int rest) { this.rest = rest; }
    ~Chain()
    {
        Log.Add("chain " + rest);
        if (rest > 0)
            new Chain(rest - 1);
    }
}

class Toggled
{
    public static int Count;
    ~Toggled() { Interlocked.Increment(ref Count); }
}

class AtExit
{
    readonly string name;
    public AtExit(string name) { this.name = name; }
    // Console's stream has a finalizer too, which may have run.
    [DllImport("libc")]
    static extern IntPtr write(int file, byte[] bytes, IntPtr count);

    ~AtExit()
    {
        byte[] line = Encoding.ASCII.GetBytes("at exit: " + name + "\n");
        write(1, line, (IntPtr)line.Length);
    }
}

static class Program
{
    static AtExit kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakePairs(int n)
    {
        for (int i = 0; i < n; i++)
        {
            new Critical();
            new Normal();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make<T>(int n) where T : new()
    {
        for (int i = 0; i < n; i++)
            new T();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeChain() { new Chain(3); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeToggled(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var suppressed = new Toggled();
            GC.SuppressFinalize(suppressed);
            GC.SuppressFinalize(suppressed);
            var again = new Toggled();
            GC.SuppressFinalize(again);
            GC.ReRegisterForFinalize(again);
            GC.ReRegisterForFinalize(again);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
    }

    static List<string> Collect(int times = 3)
    {
        for (int i = 0; i < times; i++)
        {
            Clear(200);
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        return Log.Take();
    }

    static void Main()
    {
        const int n = 300;
        MakePairs(n);
        // One collection finds most of both kinds: all its normal finalizers run before its critical ones.
        List<string> order = Collect(1);
        int firstCritical = order.IndexOf("critical"), lastNormal = order.LastIndexOf("normal");
        Console.WriteLine("order {0}", firstCritical > 0 && lastNormal >= 0 && order.Count > n);
        Collect();

        Make<Waiter>(20);
        Console.WriteLine("waited {0}", Collect().Count > 10);

        Make<Parent>(n);
        order = Collect();
        int parents = 0, children = 0;
        foreach (string line in order)
        {
            parents += line == "parent sees child" ? 1 : 0;
            children += line == "child" ? 1 : 0;
        }
        Console.WriteLine("nested {0} {1}", parents > n - 50 && parents <= n, children > n - 50 && children <= n);

        MakeChain();
        var chain = new HashSet<string>(Collect(8));
        Console.WriteLine("objects of finalizers {0}", chain.Contains("chain 3") && chain.Contains("chain 2"));

        MakeToggled(n);
        Collect();
        Console.WriteLine("toggled {0}", Toggled.Count > n - 50 && Toggled.Count <= n);

        kept = new AtExit("kept");
        var suppressed = new AtExit("suppressed");
        GC.SuppressFinalize(suppressed);
        Console.WriteLine("end {0}", kept != null);
    }
}
