// Four functions that each do another kind of work, in turns of random length, a tenth of the time, two, three and four tenths. Each thread measures by its own
// processor clock what they really took; the sums are printed, and what the collector's threads took. Arguments: seconds of processor time for each thread, threads.
using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

static class Truth
{
    const MethodImplOptions Apart = MethodImplOptions.NoInlining;
    static readonly string[] names = { "Copies", "Allocates", "Loops", "Inlines" };
    static readonly long[] sums = new long[4];

    struct Time { public long seconds, nanoseconds; }

    [DllImport("libc")]
    static extern int clock_gettime(int clock, out Time time);

    // Of this OS thread.
    static long Clock()
    {
        const int ThreadCpu = 3;
        Time time;
        clock_gettime(ThreadCpu, out time);
        return time.seconds * 1000000000 + time.nanoseconds;
    }

    // In native code, without a safepoint.
    [MethodImpl(Apart)]
    static long Copies(long end, byte[] from, byte[] to)
    {
        long now;
        do Buffer.BlockCopy(from, 0, to, 0, from.Length); while ((now = Clock()) < end);
        return now;
    }

    // Each of 4 KiB: half of them need more memory than there is at hand.
    [MethodImpl(Apart)]
    static long Allocates(long end)
    {
        long now;
        do for (int i = 0; i < 20; i++) kept = new byte[4096]; while ((now = Clock()) < end);
        return now;
    }

    [ThreadStatic] static object kept;

    [MethodImpl(Apart)]
    static long Loops(long end)
    {
        double x = 1;
        long now;
        do for (int i = 0; i < 50000; i++) x = x * 1.0000001 + 0.1; while ((now = Clock()) < end);
        GC.KeepAlive(x);
        return now;
    }

    static double Step(double x) { return x * 1.0000001 + 0.1; }

    [MethodImpl(Apart)]
    static long Inlines(long end)
    {
        double x = 1;
        long now;
        do for (int i = 0; i < 50000; i++) x = Step(x); while ((now = Clock()) < end);
        GC.KeepAlive(x);
        return now;
    }

    static void Work(int seed, double seconds)
    {
        var random = new Random(seed);
        byte[] from = new byte[200000], to = new byte[200000];
        var own = new long[4];
        long begin = Clock(), now = begin, end = begin + (long)(seconds * 1e9);
        while (now < end)
        {
            int which = random.Next(4);
            long until = now + (long)(random.NextDouble() * 6e6 * (which + 1) / 2.5), before = now;
            switch (which)
            {
                case 0: now = Copies(until, from, to); break;
                case 1: now = Allocates(until); break;
                case 2: now = Loops(until); break;
                default: now = Inlines(until); break;
            }
            own[which] += now - before;
        }
        for (int i = 0; i < own.Length; i++) Interlocked.Add(ref sums[i], own[i]);
    }

    // Of the collector's threads, as the kernel counts.
    static long Collections()
    {
        long sum = 0;
        foreach (string thread in Directory.GetDirectories("/proc/self/task"))
            if (File.ReadAllText(thread + "/comm").StartsWith("gc-"))
                sum += long.Parse(File.ReadAllText(thread + "/schedstat").Split(' ')[0]);
        return sum;
    }

    static void Main(string[] args)
    {
        double seconds = double.Parse(args[0]);
        new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true, Name = "Idle" }.Start();
        var threads = new Thread[int.Parse(args[1])];
        for (int i = 0; i < threads.Length; i++)
        {
            int seed = i + 1;
            threads[i] = new Thread(() => Work(seed, seconds)) { Name = "Busy " + i };
            threads[i].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        for (int i = 0; i < names.Length; i++) Console.WriteLine("Truth:{0} {1}", names[i], sums[i]);
        Console.WriteLine("[garbage collection] {0}", Collections());
    }
}
