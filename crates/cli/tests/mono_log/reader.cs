// Reads a log with Mono's own library and prints how many events of each kind it has, and how often each class, method and thread is named.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Mono.Profiler.Log;

sealed class Counts : LogEventVisitor
{
    readonly SortedDictionary<string, int> counts = new SortedDictionary<string, int>(StringComparer.Ordinal);
    readonly Dictionary<long, string> methods = new Dictionary<long, string>();
    readonly Dictionary<long, string> classes = new Dictionary<long, string>();
    readonly Dictionary<long, long> vtables = new Dictionary<long, long>();

    void Count(string what)
    {
        int count;
        counts.TryGetValue(what, out count);
        counts[what] = count + 1;
    }

    string Method(long id) { string name; return methods.TryGetValue(id, out name) ? name : "?"; }

    string Class(long vtable)
    {
        long id;
        string name;
        return vtables.TryGetValue(vtable, out id) && classes.TryGetValue(id, out name) ? name : "?";
    }

    public override void VisitBefore(LogEvent ev) { Count(ev.GetType().Name); }
    public override void Visit(JitEvent ev) { methods[ev.MethodPointer] = ev.Name; }
    public override void Visit(ClassLoadEvent ev) { classes[ev.ClassPointer] = ev.Name; }
    public override void Visit(VTableLoadEvent ev) { vtables[ev.VTablePointer] = ev.ClassPointer; }
    public override void Visit(ThreadNameEvent ev) { Count("thread " + ev.Name); }
    public override void Visit(AppDomainNameEvent ev) { Count("domain " + Path.GetFileName(ev.Name)); }
    public override void Visit(EnterEvent ev) { Count("enter " + Method(ev.MethodPointer)); }
    public override void Visit(LeaveEvent ev) { Count("leave " + Method(ev.MethodPointer)); }
    public override void Visit(ExceptionalLeaveEvent ev) { Count("thrown out of " + Method(ev.MethodPointer)); }
    public override void Visit(ExceptionClauseEvent ev) { Count("clause " + ev.Type + " of " + Method(ev.MethodPointer)); }
    public override void Visit(AllocationEvent ev)
    {
        var last = ev.Backtrace.Count == 0 ? "" : " in " + Method(ev.Backtrace[ev.Backtrace.Count - 1]);
        Count("new " + Class(ev.VTablePointer) + last);
    }
    public override void Visit(HeapObjectEvent ev)
    {
        Count("live " + Class(ev.VTablePointer));
        foreach (var reference in ev.References) Count("reference of " + Class(ev.VTablePointer));
    }
    public override void Visit(MonitorEvent ev) { Count("monitor " + ev.Event); }
    public override void Visit(GCHandleCreationEvent ev) { Count("handle " + ev.Type); }

    public override void Visit(HeapRootRegisterEvent ev) { Count("root " + ev.Source + " " + ev.Name); }
    public override void Visit(SampleHitEvent ev)
    {
        foreach (var method in ev.ManagedBacktrace.Distinct()) Count("sample below " + Method(method));
    }

    static void Main(string[] args)
    {
        var counts = new Counts();
        Stream file = File.OpenRead(args[0]);
        if (args.Length > 1)
        {
            var whole = new MemoryStream();
            new System.IO.Compression.GZipStream(file, System.IO.Compression.CompressionMode.Decompress).CopyTo(whole);
            whole.Position = 0;
            file = whole;
        }
        new LogProcessor(new LogStream(file), counts, null).Process();
        foreach (var pair in counts.counts) Console.WriteLine("{1} {0}", pair.Key, pair.Value);
    }
}
