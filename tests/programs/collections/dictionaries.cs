// Dictionary, HashSet, SortedDictionary, SortedList, Hashtable: keys of many kinds, growth, removal, errors.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;

struct Key : IEquatable<Key>
{
    public int A;
    public string B;
    public bool Equals(Key other) { return A == other.A && B == other.B; }
    public override bool Equals(object o) { return o is Key && Equals((Key)o); }
    public override int GetHashCode() { return A * 31 + (B == null ? 0 : B.Length); }
}

sealed class Collide
{
    public int N;
    public override int GetHashCode() { return 1; }
    public override bool Equals(object o) { Collide other = o as Collide; return other != null && other.N == N; }
}

static class Program
{
    static void Main()
    {
        Dictionary<int, string> d = new Dictionary<int, string>();
        for (int i = 0; i < 10000; i++)
            d[i * 7] = "v" + i;
        for (int i = 0; i < 10000; i += 2)
            d.Remove(i * 7);
        Console.WriteLine("{0} {1} {2}", d.Count, d[7], d.ContainsKey(14));
        string found;
        Console.WriteLine("{0} {1} {2}", d.TryGetValue(21, out found), found, d.TryGetValue(-1, out found));
        Console.WriteLine(d.Keys.Sum(k => (long)k));

        Dictionary<Key, int> structs = new Dictionary<Key, int> { { new Key { A = 1, B = "x" }, 1 } };
        structs[new Key { A = 1, B = "x" }] = 2;
        structs[new Key { A = 1, B = "y" }] = 3;
        Console.WriteLine("{0} {1}", structs.Count, structs[new Key { A = 1, B = "x" }]);
        Dictionary<Collide, int> chain = new Dictionary<Collide, int>();
        for (int i = 0; i < 100; i++)
            chain[new Collide { N = i % 50 }] = i;
        Console.WriteLine("{0} {1}", chain.Count, chain[new Collide { N = 7 }]);
        Dictionary<object, string> objects = new Dictionary<object, string> { { 1, "int" }, { 1L, "long" }, { "1", "string" }, { '1', "char" }, { 1.0, "double" }, { true, "bool" } };
        Console.WriteLine("{0} {1} {2}", objects.Count, objects[1L], objects[1.0]);
        object identity = new object();
        objects[identity] = "me";
        Console.WriteLine("{0} {1}", objects[identity], objects.ContainsKey(new object()));
        Dictionary<Type, string> types = new Dictionary<Type, string> { { typeof(int), "i" }, { typeof(List<int>), "l" } };
        Console.WriteLine(types[new List<int>().GetType()]);
        Dictionary<double, int> doubles = new Dictionary<double, int> { { 0.0, 1 }, { double.NaN, 2 } };
        Console.WriteLine("{0} {1}", doubles[-0.0], doubles[double.NaN]);
        Dictionary<long, int> longs = Enumerable.Range(0, 1000).ToDictionary(i => (long)i << 32, i => i);
        Console.WriteLine(longs[999L << 32]);

        HashSet<string> set = new HashSet<string> { "a", "b", "c" };
        Console.WriteLine("{0} {1} {2}", set.Add("a"), set.Add("d"), set.Count);
        set.IntersectWith(new[] { "b", "d", "z" });
        Console.WriteLine("{0} {1}", string.Join(" ", set.OrderBy(s => s)), set.IsSubsetOf(new[] { "a", "b", "d" }));
        SortedDictionary<string, int> sorted = new SortedDictionary<string, int>(StringComparer.Ordinal) { { "m", 1 }, { "a", 2 }, { "z", 3 } };
        Console.WriteLine(string.Join(" ", sorted.Select(p => p.Key + p.Value)));
        SortedList<int, string> list = new SortedList<int, string> { { 3, "c" }, { 1, "a" }, { 2, "b" } };
        Console.WriteLine("{0} {1}", string.Join(" ", list.Values), list.IndexOfKey(3));
        SortedSet<int> tree = new SortedSet<int>(Enumerable.Range(0, 1000).Select(i => i * 37 % 1000));
        Console.WriteLine("{0} {1} {2} {3}", tree.Min, tree.Max, tree.Count, tree.GetViewBetween(10, 20).Count);
        Hashtable table = new Hashtable { { "k", 1 }, { 2, "two" } };
        Console.WriteLine("{0} {1} {2}", table["k"], table[2], table["none"] == null);

        foreach (Action bad in new Action[] { () => d.Add(7, ""), () => Console.WriteLine(d[-5]), () => types.Add(null, ""), () => { foreach (var p in d) d.Remove(7); d.Add(-1, ""); } })
        {
            try
            {
                bad();
                Console.Write("fine ");
            }
            catch (Exception e)
            {
                Console.Write(e.GetType().Name + " ");
            }
        }
        Console.WriteLine();
        try
        {
            foreach (KeyValuePair<int, string> p in d)
                d.Add(-20 - p.Key, "");
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("modified while enumerated");
        }
    }
}
