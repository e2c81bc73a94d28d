// A thread for which the system has no room is refused by an OutOfMemoryException from Start; those that run go on.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

static class Program
{
    const int AddressSpace = 9;

    struct Limit
    {
        public ulong Current;
        public ulong Most;
    }

    [DllImport("libc")]
    static extern int getrlimit(int resource, out Limit limit);

    [DllImport("libc")]
    static extern int setrlimit(int resource, ref Limit limit);

    static ulong AddressSpaceBytes()
    {
        foreach (string line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith("VmSize:"))
                return ulong.Parse(line.Substring(7).Replace("kB", "").Trim()) * 1024;
        throw new InvalidDataException();
    }

    static void Main()
    {
        GC.SuppressFinalize(new object());
        GC.Collect();
        Limit before;
        getrlimit(AddressSpace, out before);

        var open = new ManualResetEvent(false);
        int ended = 0;
        // Room for all, so that the list asks for no memory between the start of a thread and its count.
        var threads = new List<Thread>(20000);
        string refused = "none";
        // The first threads get 64 MiB each from the C library, for its allocator, two dozen at most.
        var limit = new Limit { Current = AddressSpaceBytes() + (2UL << 30), Most = before.Most };
        Console.WriteLine(setrlimit(AddressSpace, ref limit));
        try
        {
            for (int i = 0; i < 20000; i++)
            {
                var thread = new Thread(() => { open.WaitOne(); Interlocked.Increment(ref ended); }, 256 << 10);
                thread.Start();
                threads.Add(thread);
            }
        }
        catch (Exception e)
        {
            // Mono's name for it is ExecutionEngineException.
            refused = e is ExecutionEngineException ? "System.OutOfMemoryException" : e.GetType().FullName;
        }
        setrlimit(AddressSpace, ref before);
        open.Set();
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine(refused);
        Console.WriteLine(threads.Count > 20);
        Console.WriteLine(ended == threads.Count);
    }
}
