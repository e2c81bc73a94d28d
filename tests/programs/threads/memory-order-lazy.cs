// What is made at its first use, by threads that race for it: caches that are filled without a lock, double-checked
// locking, static constructors, and what the runtime itself makes lazily (types, code, calls through interfaces).
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;

class Value
{
    public readonly int A, B;
    public Value(int n) { A = n; B = ~n; }
    public bool IsWhole { get { return B == ~A; } }
}

class Cache
{
    public Value Racy;
    public Value Checked;
    public volatile Value Volatile;
    public Value Initialized;
    public readonly Value[] Keys = new Value[16];
    public readonly Lazy<Value> Lazy = new Lazy<Value>(() => new Value(5));
    readonly object gate = new object();
    public int Made;

    public Value GetRacy()
    {
        Value value = Racy;
        if (value == null) Racy = value = new Value(1);
        return value;
    }

    public Value GetKey(int key) { return Keys[key] ?? (Keys[key] = new Value(key)); }

    public Value GetChecked()
    {
        if (Checked == null)
            lock (gate)
                if (Checked == null) { Made++; Checked = new Value(2); }
        return Checked;
    }

    public Value GetVolatile()
    {
        Value value = Volatile;
        if (value == null)
            lock (gate)
                if ((value = Volatile) == null) { Made++; Volatile = value = new Value(3); }
        return value;
    }

    public Value GetInitialized() { return LazyInitializer.EnsureInitialized(ref Initialized, () => new Value(4)); }
}

// A static constructor runs once, and others wait until it has ended.
static class Constructed<T>
{
    public static readonly Value Value;
    public static readonly int[] Table = new int[8];
    public static int Count;
    static Constructed()
    {
        Count++;
        for (int i = 0; i < Table.Length; i++) Table[i] = i * i;
        Thread.SpinWait(200);
        Value = new Value(Table[7]);
    }
    public static bool IsWhole { get { return Value.A == 49 && Value.IsWhole && Table[3] == 9 && Count == 1; } }
}

// Without a static constructor the initialisers run at some access before the first.
static class Initialised<T>
{
    public static readonly Value Value = new Value(typeof(T).Name.Length);
    public static readonly string Name = typeof(T).Name;
}

interface IKind<T>
{
    int Kind(T value);
}

class Named<T> : IKind<T>, IComparable<T>
{
    readonly int kind = typeof(T).Name.Length;
    public int Kind(T value) { return kind; }
    public int CompareTo(T other) { return kind; }
    public virtual U Pass<U>(U value) { return value; }
}

class One { } class Two { } class Three { } class Four { } class Five { } class Six { }

class MemoryOrderLazy
{
    const int Threads = 4;
    static int wrong;

    static void Check(bool ok) { if (!ok) Interlocked.Increment(ref wrong); }

    // The threads begin each of their rounds at about the same time.
    static void Race(string name, int rounds, Action<int> run)
    {
        wrong = 0;
        int arrived = 0;
        var threads = new Thread[Threads];
        for (int t = 0; t < Threads; t++)
        {
            threads[t] = new Thread(() =>
            {
                for (int round = 0; round < rounds; round++)
                {
                    Interlocked.Increment(ref arrived);
                    var spin = new SpinWait();
                    while (Volatile.Read(ref arrived) < (round + 1) * Threads) spin.SpinOnce();
                    run(round);
                }
            });
            threads[t].Start();
        }
        foreach (var thread in threads) thread.Join();
        Console.WriteLine(name + ": " + (wrong == 0 ? "ok" : wrong + " WRONG"));
    }

    static void Use<T>(T value) where T : class
    {
        Check(Constructed<T>.IsWhole);
        Check(Initialised<T>.Value.IsWhole && Initialised<T>.Value.A == Initialised<T>.Name.Length);
        object kind = new Named<T>();
        int expected = typeof(T).Name.Length;
        Check(((IKind<T>)kind).Kind(value) == expected && ((IComparable<T>)kind).CompareTo(value) == expected);
        Check(((Named<T>)kind).Pass(value) == value && ((Named<T>)kind).Pass(expected) == expected);
        Check(kind is IKind<T> && !(kind is IKind<Type>) && new List<T> { value }.Contains(value));
        Check(new T[] { value, null }.Where(v => v != null).Select(v => v.GetType()).Single() == typeof(T));
    }

    static void Main()
    {
        const int rounds = 300;
        var caches = new Cache[rounds];
        for (int i = 0; i < rounds; i++) caches[i] = new Cache();
        GC.Collect();
        Race("racy field", rounds, i => Check(caches[i].GetRacy().IsWhole && caches[i].Racy.A == 1));
        Race("racy elements", rounds, i => { for (int key = 0; key < 16; key++) Check(caches[i].GetKey(key).IsWhole && caches[i].Keys[key].A == key); });
        Race("double-checked", rounds, i => Check(caches[i].GetChecked().IsWhole && caches[i].Checked.A == 2));
        Race("double-checked, volatile", rounds, i => Check(caches[i].GetVolatile().IsWhole && caches[i].GetVolatile() == caches[i].Volatile));
        Race("LazyInitializer", rounds, i => { Value value = caches[i].GetInitialized(); Check(value.IsWhole && value == caches[i].Initialized); });
        Race("Lazy", rounds, i => { Value value = caches[i].Lazy.Value; Check(value.IsWhole && value == caches[i].Lazy.Value); });
        Console.WriteLine("made once: " + caches.All(cache => cache.Made == 2));
        Race("types, constructors and code", 6, round =>
        {
            switch (round)
            {
                case 0: Use(new One()); break;
                case 1: Use(new Two()); break;
                case 2: Use(new Three()); break;
                case 3: Use(new Four()); break;
                case 4: Use(new Five()); break;
                default: Use(new Six()); break;
            }
        });
        Type[] kinds = { typeof(One), typeof(Two), typeof(Three), typeof(Four), typeof(int), typeof(byte), typeof(string), typeof(DateTime) };
        Race("types by reflection", kinds.Length, round =>
        {
            Type kind = typeof(Named<>).MakeGenericType(typeof(Named<>).MakeGenericType(kinds[round]));
            object made = Activator.CreateInstance(kind);
            Check(made.GetType() == kind && kind.GetMethod("Kind").GetParameters().Length == 1);
            Check((int)kind.GetMethod("Kind").Invoke(made, new object[] { null }) == "Named`1".Length);
        });
        Race("interned strings", 100, i => { string text = string.Intern("interned" + i); Check(text.Length >= 9 && ReferenceEquals(text, string.Intern("interned" + i))); });
    }
}
