// Threads that the system refuses to start hold nothing, and can be started when there is room.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Work
{
    public readonly byte[] Data = new byte[1000];
    public static int Done;

    public void Run(object argument)
    {
        Done++;
    }
}

static class Program
{
    const int AddressSpace = 9;
    const int Refused = 100;

    struct Limit
    {
        public ulong Current;
        public ulong Most;
    }

    [DllImport("libc")]
    static extern int getrlimit(int resource, out Limit limit);

    [DllImport("libc")]
    static extern int setrlimit(int resource, ref Limit limit);

    static readonly WeakReference[] works = new WeakReference[Refused];
    static readonly WeakReference[] arguments = new WeakReference[Refused];

    static ulong AddressSpaceBytes()
    {
        foreach (string line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmSize:"))
                return ulong.Parse(line.Substring(7).Replace("kB", "").Trim()) * 1024;
        throw new InvalidDataException();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Thread TryStart(int number)
    {
        var work = new Work();
        var argument = new object();
        works[number] = new WeakReference(work);
        arguments[number] = new WeakReference(argument);
        var thread = new Thread(work.Run, 1 << 30);
        try
        {
            thread.Start(argument);
            Console.WriteLine("started");
        }
        catch (Exception e)
        {
            // Mono's name for it is ExecutionEngineException.
            if (!(e is ExecutionEngineException || e is OutOfMemoryException))
                Console.WriteLine(e);
        }
        return thread;
    }

    static int CountAlive(WeakReference[] references)
    {
        int count = 0;
        foreach (WeakReference reference in references)
            count += reference.IsAlive ? 1 : 0;
        return count;
    }

    static void Main()
    {
        Limit before;
        getrlimit(AddressSpace, out before);
        var limit = new Limit { Current = AddressSpaceBytes() + (256 << 20), Most = before.Most };
        Console.WriteLine(setrlimit(AddressSpace, ref limit));
        for (int i = 1; i < Refused; i++)
            TryStart(i);
        Thread last = TryStart(0);
        setrlimit(AddressSpace, ref before);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        GC.Collect();
        // The stack is scanned conservatively, so some may stay.
        Console.WriteLine(CountAlive(works) < 10);
        Console.WriteLine(CountAlive(arguments) < 10);
        last.Start(null);
        last.Join();
        Console.WriteLine(Work.Done);
    }
}
