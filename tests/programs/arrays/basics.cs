// One-dimensional arrays: creation, copying, searching, sorting, faults.
using System;
using System.Collections.Generic;

struct Pair
{
    public int A;
    public string B;
}

static class Program
{
    static void Try(string name, Action action)
    {
        try
        {
            action();
            Console.WriteLine(name + " ok");
        }
        catch (Exception e)
        {
            Console.WriteLine(name + " " + e.GetType().Name);
        }
    }

    static void Main()
    {
        int[] a = { 5, 3, 9, 1, 7 };
        int[] b = (int[])a.Clone();
        Array.Sort(b);
        Console.WriteLine("{0} | {1}", string.Join(" ", a), string.Join(" ", b));
        Console.WriteLine("{0} {1} {2}", Array.IndexOf(a, 9), Array.BinarySearch(b, 7), ~Array.BinarySearch(b, 4));
        Array.Copy(a, 0, a, 1, 4);
        Console.WriteLine(string.Join(" ", a));
        Array.Copy(a, 1, a, 0, 4);
        Console.WriteLine(string.Join(" ", a));
        Array.Clear(a, 1, 2);
        Array.Reverse(b);
        Console.WriteLine("{0} | {1}", string.Join(" ", a), string.Join(" ", b));
        Array.Resize(ref b, 7);
        Console.WriteLine("{0} {1}", b.Length, b[6]);

        Pair[] pairs = new Pair[3];
        pairs[1].A = 4;
        pairs[1].B = "four";
        Pair copy = pairs[1];
        copy.A = 5;
        Console.WriteLine("{0} {1} {2} {3}", pairs[1].A, pairs[1].B, copy.A, pairs[0].B == null);
        string[] keys = { "c", "a", "b" };
        int[] items = { 3, 1, 2 };
        Array.Sort(keys, items, StringComparer.Ordinal);
        Console.WriteLine(string.Join(" ", keys) + " " + string.Join(" ", items));
        Array.Sort(items, (x, y) => y - x);
        Console.WriteLine(string.Join(" ", items));
        Console.WriteLine(string.Join(" ", Array.ConvertAll(items, x => x * 1.5m)));
        Console.WriteLine("{0} {1}", Array.Find(items, x => x < 3), Array.Exists(items, x => x > 3));

        object[] boxes = new object[2];
        Array.Copy(new[] { 1, 2 }, boxes, 2);
        Console.WriteLine("{0} {1}", boxes[0], boxes[1].GetType());
        long[] wide = new long[2];
        Array.Copy(new[] { 1, -2 }, wide, 2);
        Console.WriteLine("{0} {1}", wide[0], wide[1]);
        Try("narrowing copy", () => Array.Copy(new long[2], new int[2], 2));
        Try("unboxing copy", () => Array.Copy(new object[] { 1, 2 }, new int[2], 2));
        Try("bad unboxing copy", () => Array.Copy(new object[] { 1, "2" }, new int[2], 2));
        Try("copy too long", () => Array.Copy(new int[2], new int[3], 3));

        int[] none = null;
        int minus = -1, five = 5;
        Try("negative size", () => Console.WriteLine(new int[minus]));
        Try("index -1", () => Console.WriteLine(a[minus]));
        Try("index 5", () => Console.WriteLine(a[five]));
        Try("store 5", () => a[five] = 1);
        Try("null array", () => Console.WriteLine(none[0]));
        Try("null length", () => Console.WriteLine(none.Length));
        long index = 2;
        Console.WriteLine("{0} {1}", a[index], a.GetValue(2L));

        Buffer.BlockCopy(new[] { 0x01020304 }, 0, items, 1, 4);
        Console.WriteLine("{0:x} {1:x}", items[0], Buffer.GetByte(items, 2));
        IList<int> list = a;
        Console.WriteLine("{0} {1} {2}", list.Count, list.Contains(9), list.IsReadOnly);
        Try("add to array", () => list.Add(1));
        Console.WriteLine("{0} {1} {2}", a.GetType(), typeof(int[][]).Name, typeof(int[,]).Name);
        Console.WriteLine("{0} {1} {2}", a.Rank, a.GetLowerBound(0), a.GetUpperBound(0));
        byte[] bytes = new byte[70000];
        bytes[69999] = 7;
        Console.WriteLine(bytes[69999] + bytes[0]);
        Console.WriteLine(Array.Empty<int>().Length);
    }
}
