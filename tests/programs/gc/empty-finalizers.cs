// net: skip .NET keeps objects with an empty finalizer until that has run
// An object whose finalizer does nothing does not outlive the collection that finds it dead: long weak references lose it at once. An empty finalizer over one that does
// something is not empty.
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

class Empty
{
    ~Empty() { }
}

class InheritsEmpty : Empty { }

class OverEmpty : InheritsEmpty
{
    ~OverEmpty() { }
}

class Counts : Empty
{
    public static int Count;

    ~Counts() { Interlocked.Increment(ref Count); }
}

class OverCounts : Counts
{
    ~OverCounts() { }
}

static class Program
{
    const int Objects = 200;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference[] Make(Func<object> make)
    {
        return Enumerable.Range(0, Objects).Select(i => new WeakReference(make(), true)).ToArray();
    }

    // Overwrites what the calls before have left on the stack.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deeper(int depth)
    {
        return depth == 0 ? 0 : 1 + Deeper(depth - 1);
    }

    static void Main()
    {
        ThreadStart start = () => { };
        foreach (var make in new Func<object>[] { () => new Empty(), () => new InheritsEmpty(), () => new OverEmpty(), () => new Thread(start) })
        {
            var references = Make(make);
            Deeper(100);
            GC.Collect();
            // A few may look alive because of an old word on the stack.
            bool areGone = references.Count(reference => reference.IsAlive) < Objects / 10;
            Console.WriteLine(make().GetType().Name + ": " + (areGone ? "gone" : "kept"));
        }
        foreach (var make in new Func<object>[] { () => new Counts(), () => new OverCounts() })
        {
            Counts.Count = 0;
            Make(make);
            Deeper(100);
            GC.Collect();
            GC.WaitForPendingFinalizers();
            Console.WriteLine(make().GetType().Name + ": " + (Counts.Count > Objects * 9 / 10 ? "finalized" : Counts.Count + " finalized"));
        }
    }
}
