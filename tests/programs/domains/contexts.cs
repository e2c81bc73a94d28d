// Contexts: objects bound to one, statics of one, addresses of fields that are elsewhere.
using System;
using System.Runtime.Remoting.Contexts;
using System.Threading;

[Synchronization(SynchronizationAttribute.REQUIRES_NEW)]
class Bound : ContextBoundObject
{
    public int Counter;
    public string Text = "made";
    public int Count() { Counter++; Statics.Value += 100; return Statics.Value; }
}

static class Statics
{
    [ContextStatic] public static int Value = 5;
    [ContextStatic] public static string Name;
}

static class Program
{
    static void Main()
    {
        Statics.Value = 10;
        Statics.Name = "main";
        Bound first = new Bound(), second = new Bound();
        Console.WriteLine("{0} {1} {2}", first.Count(), first.Count(), second.Count());
        Console.WriteLine("{0} {1}", Statics.Value, Statics.Name);
        Console.WriteLine("{0} {1} {2}", first.Counter, second.Counter, first.Text);
        try
        {
            Interlocked.Increment(ref first.Counter);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("in another context");
        }
        GC.Collect();
        Console.WriteLine("{0} {1}", first.Count(), Statics.Name);
    }
}
