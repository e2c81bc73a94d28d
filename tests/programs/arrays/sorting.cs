// Sorting large arrays of several kinds gives sorted permutations; a faulty comparer is reported.
using System;
using System.Collections.Generic;

sealed class Item : IComparable<Item>
{
    public int Key;

    public int CompareTo(Item other)
    {
        return Key.CompareTo(other.Key);
    }
}

static class Program
{
    static void Main()
    {
        const int n = 20000;
        Random random = new Random(1);
        int[] ints = new int[n];
        double[] doubles = new double[n];
        string[] strings = new string[n];
        Item[] items = new Item[n];
        long sum = 0;
        for (int i = 0; i < n; i++)
        {
            ints[i] = random.Next();
            sum += ints[i];
            doubles[i] = i % 1000 == 0 ? double.NaN : random.NextDouble() - 0.5;
            strings[i] = ints[i].ToString();
            items[i] = new Item { Key = ints[i] % 1000 };
        }
        Array.Sort(ints);
        Array.Sort(doubles);
        Array.Sort(strings, StringComparer.Ordinal);
        Array.Sort(items);
        bool sorted = true;
        for (int i = 1; i < n; i++)
        {
            sum -= ints[i];
            sorted &= ints[i - 1] <= ints[i] && string.CompareOrdinal(strings[i - 1], strings[i]) <= 0 && items[i - 1].Key <= items[i].Key;
        }
        Console.WriteLine("{0} {1}", sorted, sum - ints[0]);
        Console.WriteLine("{0} {1}", double.IsNaN(doubles[19]), double.IsNaN(doubles[20]));
        List<int> list = new List<int>(ints);
        list.Sort((a, b) => b.CompareTo(a));
        Console.WriteLine(list[0] == ints[n - 1]);
        try
        {
            Array.Sort(new object[] { new object(), new object() });
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine("{0} {1}", e.GetType().Name, e.InnerException.GetType().Name);
        }
        try
        {
            Array.Sort(new[] { 3, 2, 1 }, (a, b) => { throw new FormatException(); });
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine("{0} {1}", e.GetType().Name, e.InnerException.GetType().Name);
        }
    }
}
