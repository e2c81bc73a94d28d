// ConditionalWeakTable: a value lives as long as its key, also when the value refers to the key.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Key { }
class Value { public object Back; public int N; }

static class Program
{
    static readonly ConditionalWeakTable<Key, Value> table = new ConditionalWeakTable<Key, Value>();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill(List<Key> kept, List<WeakReference> values, int n)
    {
        for (int i = 0; i < n; i++)
        {
            Key key = new Key();
            Value value = new Value { Back = key, N = i };
            table.Add(key, value);
            if (i % 10 == 0)
                kept.Add(key);
            else
                values.Add(new WeakReference(value));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Clear(int depth)
    {
        long a = depth, b = depth * 2, c = depth * 3;
        return depth == 0 ? 0 : Clear(depth - 1) + (int)(a + b - c);
    }

    static void Main()
    {
        List<Key> kept = new List<Key>();
        List<WeakReference> values = new List<WeakReference>();
        Fill(kept, values, 1000);
        for (int i = 0; i < 3; i++)
        {
            Clear(100);
            GC.Collect();
        }
        int alive = 0, right = 0;
        foreach (WeakReference w in values)
            if (w.IsAlive)
                alive++;
        for (int i = 0; i < kept.Count; i++)
        {
            Value value;
            if (table.TryGetValue(kept[i], out value) && value.N == i * 10 && ReferenceEquals(value.Back, kept[i]))
                right++;
        }
        Console.WriteLine("{0} {1}", alive < 100, right);

        // A chain: each value is the next key.
        ConditionalWeakTable<object, object> chain = new ConditionalWeakTable<object, object>();
        object first = new object(), next = first;
        for (int i = 0; i < 20; i++)
        {
            object value = i == 19 ? "end" : new object();
            chain.Add(next, value);
            next = value;
        }
        next = null;
        GC.Collect();
        object at = first, found;
        int links = 0;
        while (chain.TryGetValue(at, out found))
        {
            at = found;
            links++;
        }
        Console.WriteLine("{0} {1}", links, at);
        Value made = table.GetValue(kept[0], k => new Value { N = -1 });
        Console.WriteLine("{0} {1}", made.N, table.GetOrCreateValue(new Key()).N);
        try
        {
            table.Add(kept[0], new Value());
        }
        catch (ArgumentException)
        {
            Console.WriteLine("twice");
        }
        Console.WriteLine(table.Remove(kept[0]) + " " + table.Remove(kept[0]));
    }
}
