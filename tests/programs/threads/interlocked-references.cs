// Interlocked and Volatile on references and generics: in fields, statics, elements, locals and through parameters, with
// the collector moving on in between: an exchanged young object must survive in an old one.
using System;
using System.Threading;

class Node
{
    public Node Next;
    public object Tag;
    public int Number;
}

class Box<T> where T : class
{
    public T Value;
    public T Swap(T value) { return Interlocked.Exchange(ref Value, value); }
    public bool Replace(T value, T expected) { return Interlocked.CompareExchange(ref Value, value, expected) == expected; }
}

class InterlockedReferences
{
    static Node head;
    static object any;

    static void Check(string name, bool ok) { Console.WriteLine(name + ": " + (ok ? "ok" : "WRONG")); }

    static Node Through(ref Node place, Node value) { return Interlocked.Exchange(ref place, value); }

    static object ThroughCompare(ref object place, object value, object expected) { return Interlocked.CompareExchange(ref place, value, expected); }

    static void Push(Node node)
    {
        Node seen;
        do { seen = Volatile.Read(ref head); node.Next = seen; }
        while (Interlocked.CompareExchange(ref head, node, seen) != seen);
    }

    static void Garbage() { for (int i = 0; i < 2000; i++) new byte[200].GetHashCode(); }

    static void Main()
    {
        var old = new Node { Number = 1 };
        var array = new object[4];
        var box = new Box<string>();
        GC.Collect();
        GC.Collect();
        for (int i = 0; i < 200; i++)
        {
            Interlocked.Exchange(ref old.Next, new Node { Number = i });
            Interlocked.CompareExchange(ref old.Tag, "tag" + i, old.Tag);
            Interlocked.Exchange(ref array[i & 3], "element" + i);
            box.Swap("boxed" + i);
            Through(ref old.Next.Next, new Node { Number = -i });
            ThroughCompare(ref old.Next.Tag, "deep" + i, null);
            if (i % 20 == 0) Garbage();
            if (i % 50 == 0) GC.Collect();
        }
        Garbage();
        GC.Collect();
        Check("field", old.Next.Number == 199 && (string)old.Tag == "tag199");
        Check("element", (string)array[3] == "element199" && (string)array[0] == "element196");
        Check("generic", box.Value == "boxed199");
        Check("by reference", old.Next.Next.Number == -199 && (string)old.Next.Tag == "deep199");

        var a = new object();
        object local = a;
        Check("local", Interlocked.Exchange(ref local, null) == a && local == null);
        Check("refused", Interlocked.CompareExchange(ref any, a, a) == null && any == null);
        Check("accepted", Interlocked.CompareExchange(ref any, a, null) == null && any == a);
        Check("replace", box.Replace("x", "other") == false && box.Replace("y", box.Value) && box.Value == "y");

        object[] strings = new string[1];
        Check("covariant array", Throws<ArrayTypeMismatchException>(() => Interlocked.Exchange(ref strings[0], new object())));
        Node none = null;
        Check("null object", Throws<NullReferenceException>(() => Interlocked.Exchange(ref none.Next, null)));

        var threads = new Thread[4];
        for (int n = 0; n < threads.Length; n++)
        {
            threads[n] = new Thread(() => { for (int i = 0; i < 5000; i++) Push(new Node { Number = i, Tag = i.ToString() }); });
            threads[n].Start();
        }
        foreach (var thread in threads) thread.Join();
        int count = 0;
        bool whole = true;
        for (Node node = head; node != null; node = node.Next) { count++; whole &= (string)node.Tag == node.Number.ToString(); }
        Check("stack of four threads", count == 20000 && whole);

        double real = 1.5;
        float single = 2.5f;
        Check("floats", Interlocked.Exchange(ref real, 3.5) == 1.5 && real == 3.5 && Interlocked.CompareExchange(ref single, 1, 2.5f) == 2.5f && single == 1);
    }

    static bool Throws<T>(Action action) where T : Exception
    {
        try { action(); } catch (T) { return true; }
        return false;
    }
}
