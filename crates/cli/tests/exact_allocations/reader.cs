// Sums the allocations of a log: number, bytes, type, and the outermost and innermost methods of the program's own class, or "-".
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Mono.Profiler.Log;

sealed class Sums : LogEventVisitor
{
    readonly Dictionary<string, long[]> sums = new Dictionary<string, long[]>();
    readonly Dictionary<long, string> methods = new Dictionary<long, string>();
    readonly Dictionary<long, string> classes = new Dictionary<long, string>();
    readonly Dictionary<long, long> vtables = new Dictionary<long, long>();

    public override void Visit(JitEvent ev) { methods[ev.MethodPointer] = ev.Name; }
    public override void Visit(ClassLoadEvent ev) { classes[ev.ClassPointer] = ev.Name; }
    public override void Visit(VTableLoadEvent ev) { vtables[ev.VTablePointer] = ev.ClassPointer; }

    public override void Visit(AllocationEvent ev)
    {
        var own = ev.Backtrace.Select(method => methods[method].Split(' ')[0]).Where(name => name.StartsWith("Counts:")).ToArray();
        string key = classes[vtables[ev.VTablePointer]] + " " + own.FirstOrDefault() + " " + own.LastOrDefault();
        long[] sum;
        if (!sums.TryGetValue(key, out sum)) sums[key] = sum = new long[2];
        sum[0]++;
        sum[1] += ev.ObjectSize;
    }

    static void Main(string[] args)
    {
        var sums = new Sums();
        using (Stream file = File.OpenRead(args[0]))
            new LogProcessor(new LogStream(file), sums, null).Process();
        foreach (var pair in sums.sums) Console.WriteLine("{0} {1} {2}", pair.Value[0], pair.Value[1], pair.Key);
    }
}
