// Publication by plain stores of references: who finds an object by a data race finds its type, its length and what its
// constructor stored, on each way by which a reference reaches a place that other threads read.
using System;
using System.Collections.Generic;
using System.Threading;

abstract class Base
{
    public abstract long Sum();
}

sealed class Node : Base
{
    public readonly long A, B;
    public readonly Node Inner;
    public Node(long n, Node inner) { A = n; B = ~n; Inner = inner; }
    public override long Sum() { return A + B + (Inner == null ? 0 : Inner.A + Inner.B + 1); }
}

struct Holder
{
    public long Number;
    public object Reference;
}

// Too large to be copied in line.
struct Row
{
    public object A, B, C, D, E, F, G, H, I, Last;
    public Row(object all) { A = B = C = D = E = F = G = H = I = Last = all; }
}

class Place
{
    public object Field;
    public static object Static;
    [ThreadStatic] public static object Own;
    public Holder Struct;
    public Row Row;
    public Func<long> Call;
}

static class Generic<T>
{
    public static T Value;
}

class MemoryOrderPublication
{
    const int Rounds = 20000;
    static volatile bool stop;

    static Node Make(int i) { return new Node(i, (i & 1) == 0 ? null : new Node(-i, null)); }

    static bool IsWhole(object found)
    {
        if (found == null) return true;
        var node = found as Node;
        if (node != null) return node.Sum() == -1 && (node.Inner == null || node.Inner.B == ~node.Inner.A);
        var text = found as string;
        if (text != null) return text.Length == 6 && text[0] == 'n' && text[5] == 'r';
        var numbers = found as long[];
        if (numbers != null) return numbers.Length == 5 && numbers[0] + numbers[4] == 9;
        var list = found as List<object>;
        if (list != null) return list.Count == 2 && IsWhole(list[0]) && (int)list[1] == 7;
        if (found is Holder) return ((Holder)found).Number == 3 && IsWhole(((Holder)found).Reference);
        return found is int && (int)found == 7;
    }

    static void Check(string name, Action<int> publish, Func<object> find)
    {
        stop = false;
        int wrong = 0, found = 0;
        var readers = new Thread[2];
        for (int t = 0; t < readers.Length; t++)
        {
            readers[t] = new Thread(() =>
            {
                do
                {
                    object seen = find();
                    if (!IsWhole(seen)) Interlocked.Increment(ref wrong);
                    if (seen != null) found = 1;
                } while (!stop || found == 0);
            });
            readers[t].Start();
        }
        for (int i = 0; i < Rounds; i++) publish(i);
        stop = true;
        foreach (var reader in readers) reader.Join();
        Console.WriteLine(name + ": " + (wrong == 0 ? "ok" : wrong + " WRONG"));
    }

    static void StoreTo(ref object place, object value) { place = value; }

    static void Fill<T>(T[] array, int index, T value) { array[index] = value; }

    static void Main()
    {
        var place = new Place();
        var objects = new object[4];
        var holders = new Holder[4];
        var rows = new Row[4];
        var nodes = new Node[4];
        var copies = new object[4];
        GC.Collect();
        GC.Collect();
        Check("instance field", i => place.Field = Make(i), () => place.Field);
        Check("static field", i => Place.Static = Make(i), () => Place.Static);
        Check("generic static", i => Generic<object>.Value = Make(i), () => Generic<object>.Value);
        Check("element", i => objects[i & 3] = Make(i), () => objects[1]);
        Check("element of a generic array", i => Fill(nodes, i & 3, Make(i)), () => nodes[3]);
        Check("by reference", i => StoreTo(ref place.Field, Make(i)), () => place.Field);
        Check("struct in a field", i => place.Struct = new Holder { Number = i, Reference = Make(i) }, () => place.Struct.Reference);
        Check("struct in an array", i => holders[i & 3] = new Holder { Number = i, Reference = Make(i) }, () => holders[2].Reference);
        Check("static struct", i => Generic<Holder>.Value = new Holder { Number = i, Reference = Make(i) }, () => Generic<Holder>.Value.Reference);
        Check("large struct in a field", i => place.Row = new Row(Make(i)), () => IsWhole(place.Row.A) ? place.Row.Last : -1);
        Check("large struct in an array", i => rows[i & 3] = new Row(Make(i)), () => rows[3].I);
        Check("large static struct", i => Generic<Row>.Value = new Row(Make(i)), () => Generic<Row>.Value.Last);
        Check("static by reference", i => StoreTo(ref Place.Static, Make(i)), () => Place.Static);
        Check("static by reflection", i => typeof(Place).GetField("Static").SetValue(null, Make(i)), () => Place.Static);
        Check("boxed struct", i => place.Field = new Holder { Number = 3, Reference = Make(i) }, () => place.Field);
        Check("exchange", i => Interlocked.Exchange(ref place.Field, Make(i)), () => place.Field);
        Check("compare and exchange", i => Interlocked.CompareExchange(ref place.Field, Make(i), place.Field), () => place.Field);
        Check("copied array", i =>
        {
            var source = new object[] { Make(i), Make(i + 1), Make(i + 2), Make(i + 3) };
            Array.Copy(source, copies, 4);
        }, () => copies[3]);
        Check("cloned array", i => place.Field = new long[] { 4, 0, 0, 0, 5 }.Clone(), () => place.Field);
        Check("string", i => place.Field = string.Concat("num", i < 0 ? "BER" : "ber"), () => place.Field);
        Check("boxed number", i => place.Field = i < 0 ? i : 7, () => place.Field);
        Check("list", i => place.Field = new List<object> { Make(i), 7 }, () => place.Field);
        place.Call = () => -1;
        Check("delegate", i => { Node node = Make(i); place.Call = node.Sum; place.Field = node; }, () => place.Call() == -1 ? place.Field : 0);
        Check("reflection", i => typeof(Place).GetField("Field").SetValue(place, Make(i)), () => place.Field);
        Check("while objects move", i => { place.Field = Make(i); if (i % 4000 == 0) GC.Collect(0); }, () => place.Field);
    }
}
