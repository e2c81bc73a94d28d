// Each registration for finalization stands for one run of the finalizer, but taking back SuppressFinalize is not one.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Counted
{
    public static int Runs;
    public static int Again;

    ~Counted()
    {
        Interlocked.Increment(ref Runs);
        if (Again > 0)
        {
            Again--;
            GC.ReRegisterForFinalize(this);
        }
    }
}

static class Program
{
    static Counted kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Makes(string actions)
    {
        var counted = new Counted();
        foreach (char action in actions) Acts(counted, action);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Acts(Counted counted, char action)
    {
        switch (action)
        {
            case 'r': GC.ReRegisterForFinalize(counted); break;
            case 's': GC.SuppressFinalize(counted); break;
            // It moves, and grows old.
            case 'c': kept = counted; GC.Collect(); GC.Collect(); kept = null; break;
        }
    }

    static void Runs(string actions, int again = 0)
    {
        Counted.Runs = 0;
        Counted.Again = again;
        var thread = new Thread(() => Makes(actions));
        thread.Start();
        thread.Join();
        for (int i = 0; i < 4; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Console.WriteLine($"{actions}: {Counted.Runs}");
    }

    static void Main()
    {
        foreach (string actions in new[] { "", "r", "rr", "s", "sr", "srr", "rs", "rrs", "rsr", "cr", "rc", "rcs", "rsc", "rscr", "scr", "src" }) Runs(actions);
        Runs("", 2);
        Runs("r", 1);
    }
}
