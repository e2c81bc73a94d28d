// List, Queue, Stack, LinkedList, ArrayList, BitArray, read-only and observable wrappers, Concurrent collections.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Collections.ObjectModel;
using System.Linq;

static class Program
{
    static void Main()
    {
        List<int> list = new List<int> { 3, 1, 2 };
        list.AddRange(new[] { 9, 8 });
        list.Insert(1, 7);
        list.Remove(2);
        list.RemoveAt(0);
        Console.WriteLine("{0} ({1})", string.Join(" ", list), list.Count);
        list.Sort();
        Console.WriteLine("{0} {1} {2}", string.Join(" ", list), list.BinarySearch(8), list.IndexOf(5));
        list.Reverse();
        list.RemoveAll(x => x > 8);
        Console.WriteLine("{0} {1} {2}", string.Join(" ", list), list.Exists(x => x == 1), list.FindIndex(x => x == 1));
        Console.WriteLine(string.Join(" ", list.GetRange(1, 2).ConvertAll(x => "n" + x)));
        try
        {
            Console.WriteLine(list[10]);
        }
        catch (ArgumentOutOfRangeException)
        {
            Console.WriteLine("ArgumentOutOfRangeException");
        }
        try
        {
            foreach (int x in list)
                list.Add(x);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("InvalidOperationException");
        }
        List<string> many = new List<string>();
        for (int i = 0; i < 5000; i++)
            many.Insert(i / 2, i.ToString());
        Console.WriteLine("{0} {1} {2} {3}", many.Count, many[0], many[2500], many[4999]);

        Queue<int> queue = new Queue<int>();
        int sum = 0;
        for (int i = 0; i < 100; i++)
        {
            queue.Enqueue(i);
            if (i % 3 == 0)
                sum += queue.Dequeue();
        }
        Console.WriteLine("{0} {1} {2}", queue.Count, queue.Peek(), sum);
        Stack<string> stack = new Stack<string>(new[] { "a", "b", "c" });
        Console.WriteLine("{0} {1} {2}", stack.Pop(), stack.Peek(), string.Join("", stack));
        LinkedList<int> linked = new LinkedList<int>(new[] { 1, 2, 3 });
        linked.AddAfter(linked.Find(2), 25);
        linked.AddFirst(0);
        linked.Remove(3);
        Console.WriteLine("{0} {1}", string.Join(" ", linked), linked.Last.Previous.Value);
        ArrayList old = new ArrayList { 3, 1, 2 };
        old.Sort();
        Console.WriteLine("{0} {1}", string.Join(" ", old.ToArray()), old.Contains(2));
        BitArray bits = new BitArray(10);
        bits[3] = true;
        Console.WriteLine(string.Join("", bits.Not().Cast<bool>().Select(b => b ? 1 : 0)));
        ReadOnlyCollection<int> readOnly = list.AsReadOnly();
        try
        {
            ((IList<int>)readOnly).Add(1);
        }
        catch (NotSupportedException)
        {
            Console.WriteLine("NotSupportedException");
        }
        ObservableCollection<int> observable = new ObservableCollection<int>();
        observable.CollectionChanged += (s, e) => Console.Write(e.Action + " ");
        observable.Add(1);
        observable[0] = 2;
        observable.RemoveAt(0);
        Console.WriteLine();

        ConcurrentDictionary<string, int> concurrent = new ConcurrentDictionary<string, int>();
        for (int i = 0; i < 10; i++)
            concurrent.AddOrUpdate("k" + i % 3, 1, (k, v) => v + 1);
        Console.WriteLine("{0} {1}", concurrent["k0"], concurrent.GetOrAdd("new", k => k.Length));
        ConcurrentQueue<int> cq = new ConcurrentQueue<int>(Enumerable.Range(0, 100));
        int head;
        Console.WriteLine("{0} {1} {2}", cq.TryDequeue(out head), head, cq.Count);
        ConcurrentBag<int> bag = new ConcurrentBag<int> { 1, 2, 3 };
        Console.WriteLine(bag.Sum());
        Console.WriteLine(new List<int>(list) { Capacity = 100 }.Capacity);
        Console.WriteLine("{0} {1}", ((ICollection)list).IsSynchronized, ((IList)list).IsFixedSize);
    }
}
