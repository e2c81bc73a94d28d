// Fields marked [Weak] do not keep their objects alive, also inherited ones, and are cleared before the finalizers run; all other fields do.
// net: skip fields that hold weakly are a part of Mono
using System;
using System.Runtime.CompilerServices;

class Target {
    readonly string name;
    public Target (string name) { this.name = name; }
    ~Target () { if (name != null) Program.Finalized++; }
}

// Its finalizer looks at its weak fields: nothing else keeps the first object, the finalizer keeps the second.
class Finalized {
    [Weak] public object Dead, Kept;
    public object Strong;
    ~Finalized () { Program.Seen = string.Format ("{0} {1}", Dead == null, ReferenceEquals (Kept, Strong)); }
}

class OnlyWeak {
    [Weak] public Target Own;
}

class Base {
    public object Strong;
    [Weak] public object Weak;
    public int Number = 1;
}

class Derived : Base {
    [Weak] public Target Own;
    public Target Plain;
    [Weak] public static object Static;
}

class Generic<T> where T : class {
    [Weak] public T Value;
    public T Strong;
}

static class Program {
    // What stale words of the stack may keep alive.
    const int Count = 200, Margin = 10;
    public static int Finalized;
    public static volatile string Seen;
    static object[] holders;

    [MethodImpl (MethodImplOptions.NoInlining)]
    static void Fill (Derived[] derived, OnlyWeak[] only, Generic<Target>[] generic)
    {
        for (int i = 0; i < Count; i++) {
            derived[i].Weak = new Target ("inherited");
            derived[i].Own = new Target ("own");
            derived[i].Strong = new Target (null);
            derived[i].Plain = new Target (null);
            only[i].Own = new Target ("only");
            generic[i].Value = new Target ("generic");
            generic[i].Strong = new Target (null);
        }
        Derived.Static = new Target (null);
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static void FinalizedHolder ()
    {
        for (int i = 0; i < Count; i++) {
            var kept = new object ();
            new Finalized { Dead = new object (), Kept = kept, Strong = kept };
        }
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static void Collect ()
    {
        for (int i = 0; i < 3; i++) {
            GC.Collect ();
            GC.WaitForPendingFinalizers ();
        }
    }

    static int Missing<T> (T[] holders, Func<T, object> field)
    {
        int missing = 0;
        foreach (var holder in holders)
            if (field (holder) == null)
                missing++;
        return missing;
    }

    static void Show (Derived[] derived, OnlyWeak[] only, Generic<Target>[] generic)
    {
        foreach (int missing in new[] { Missing (derived, d => d.Weak), Missing (derived, d => d.Own), Missing (only, o => o.Own), Missing (generic, g => g.Value) })
            Console.Write ("{0} ", missing >= Count - Margin);
        Console.WriteLine ("{0} {1} {2} {3}", Missing (derived, d => d.Strong), Missing (derived, d => d.Plain), Missing (generic, g => g.Strong), Derived.Static != null);
    }

    static T[] Make<T> (Func<T> make)
    {
        var made = new T[Count];
        for (int i = 0; i < Count; i++)
            made[i] = make ();
        return made;
    }

    static void Main ()
    {
        var derived = Make (() => new Derived ());
        var only = Make (() => new OnlyWeak ());
        var generic = Make (() => new Generic<Target> ());
        // Once with young holders, once with old ones.
        for (int round = 0; round < 2; round++) {
            Fill (derived, only, generic);
            Collect ();
            Show (derived, only, generic);
        }
        Console.WriteLine (Finalized >= 2 * 4 * (Count - Margin));

        // Objects that others keep stay in the fields, wherever they and their holders are moved.
        var kept = new object[Count];
        holders = new object[Count];
        for (int i = 0; i < Count; i++) {
            kept[i] = new int[] { i };
            holders[i] = new Derived { Weak = kept[i], Number = i };
            var garbage = new byte[50000];
        }
        for (int i = 0; i < 50; i++)
            GC.Collect (0);
        Collect ();
        int wrong = 0;
        for (int i = 0; i < Count; i++) {
            var holder = (Derived) holders[i];
            if (!ReferenceEquals (holder.Weak, kept[i]) || ((int[]) holder.Weak)[0] != i || holder.Number != i)
                wrong++;
        }
        Console.WriteLine (wrong);

        FinalizedHolder ();
        Collect ();
        Console.WriteLine (Seen);
    }
}
