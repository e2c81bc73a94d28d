// Objects that are kept alive by every kind of root, and some that are not. Each type's number is known.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

class Node { public Node next; }
class Chain { public Node head; }
class Session { public byte[] data = new byte[100]; }
class Subscriber { public int calls; public void Handle() { calls++; } }
class Twice { public int calls; public void Handle() { calls++; } }
static class Bus { public static event Action Twice; public static event Action Changed; public static void Fire() { if (Changed != null) Changed(); if (Twice != null) Twice(); } }
class Key { }
class CachedValue { }
class WeakTarget { }
class OnStack { }
[StructLayout(LayoutKind.Sequential)] class Pinned { public int x; }
class HandleTarget { }
class PerThread { }
class Captured { public int x; }
class InBox { }
struct Pair { public int x; public InBox first; public InBox second; }
class DomainThing { }
class Dropped { }

static class InDomain {
    static object[] kept;
    public static void Fill() { kept = new object[] { new DomainThing(), new DomainThing(), new DomainThing() }; }
}

static class Graphs {
    static Chain chain = new Chain();
    static Dictionary<int, Session> sessions = new Dictionary<int, Session>();
    static ConditionalWeakTable<Key, CachedValue> cache = new ConditionalWeakTable<Key, CachedValue>();
    static Key[] keys = new Key[7];
    static Twice[] twice = new Twice[20];
    static WeakReference[] weak = new WeakReference[20];
    static Func<int> closure;
    static object boxed;
    static Pair[] pairs = new Pair[4];
    [ThreadStatic] static PerThread perThread;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill() {
        for (int i = 0; i < 1000; i++) chain.head = new Node { next = chain.head };
        for (int i = 0; i < 100; i++) sessions[i] = new Session();
        for (int i = 0; i < 10; i++) Bus.Changed += new Subscriber().Handle;
        for (int i = 0; i < twice.Length; i++) Bus.Twice += (twice[i] = new Twice()).Handle;
        for (int i = 0; i < keys.Length; i++) cache.Add(keys[i] = new Key(), new CachedValue());
        for (int i = 0; i < 5; i++) cache.Add(new Key(), new CachedValue());
        for (int i = 0; i < weak.Length; i++) weak[i] = new WeakReference(new WeakTarget());
        GCHandle.Alloc(new Pinned(), GCHandleType.Pinned);
        GCHandle.Alloc(new HandleTarget());
        GCHandle.Alloc(new WeakTarget(), GCHandleType.Weak);
        var captured = new Captured();
        closure = () => captured.x;
        boxed = new Pair { first = new InBox() };
        pairs[3].second = new InBox();
        for (int i = 0; i < 1000; i++) new Dropped();
        var domain = AppDomain.CreateDomain("other");
        domain.DoCallBack(InDomain.Fill);
    }

    // What was written to the stack meanwhile is not to look like references.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Scrub(int depth) { return depth == 0 ? 0 : Scrub(depth - 1) * 3 + depth; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Hold(ManualResetEvent isReady, ManualResetEvent forEver) {
        var onStack = new OnStack();
        perThread = new PerThread();
        isReady.Set();
        forEver.WaitOne();
        GC.KeepAlive(onStack);
    }

    static int Main(string[] args) {
        var filler = new Thread(Fill);
        filler.Start();
        filler.Join();
        var isReady = new ManualResetEvent(false);
        var forEver = new ManualResetEvent(false);
        var holder = new Thread(() => Hold(isReady, forEver)) { IsBackground = true, Name = "Holder" };
        holder.Start();
        isReady.WaitOne();
        for (int i = 0; i < 4 && args.Length > 0 && args[0] == "allocate"; i++)
            new Thread(() => { while (true) { var list = new Node(); for (int k = 0; k < 1000; k++) list = new Node { next = list }; } }) { IsBackground = true }.Start();
        Scrub(200);
        Console.WriteLine("ok");
        if (args.Length > 1 && args[1] == "wait") Console.ReadLine();
        return closure() + (keys.Length - 7);
    }
}
