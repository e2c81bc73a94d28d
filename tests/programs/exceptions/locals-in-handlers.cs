// Locals that change in a loop are what a handler reads, whichever check or call threw; and locals live on over slow paths.
using System;
using System.Collections.Generic;
using System.Threading;

sealed class Node
{
    public Node Next;
    public int Value;
}

static class LocalsInHandlers
{
    static int[] small = { 1, 2, 3 };
    static volatile bool stop;

    static string Faults(Node list, int limit, object boxed)
    {
        int steps = 0;
        long sum = 0;
        double weight = 0.5;
        Node at = list;
        string what = "none";
        try
        {
            for (; ; steps++)
            {
                sum += steps * 3;
                weight *= 1.5;
                if (steps == limit)
                {
                    if (limit % 5 == 0) sum += small[steps + 3];
                    if (limit % 5 == 1) sum += steps / (limit - steps);
                    if (limit % 5 == 2) sum += checked(int.MaxValue + steps);
                    if (limit % 5 == 3) sum += ((string)boxed).Length;
                    throw new InvalidOperationException("own");
                }
                at = at.Next ?? list;
                sum += at.Value;
            }
        }
        catch (Exception e)
        {
            what = e.GetType().Name;
            sum += at.Value;
        }
        finally
        {
            weight += steps;
        }
        return string.Format("{0}: {1} steps, sum {2}, weight {3:F3}", what, steps, sum, weight);
    }

    static string Nulls(Node list)
    {
        int caught = 0, walked = 0;
        long sum = 0;
        for (int round = 0; round < 4; round++)
        {
            Node at = list;
            try
            {
                try
                {
                    for (int i = 0; ; i++)
                    {
                        walked = round * 100 + i;
                        sum += at.Value;
                        at = at.Next;
                        if (round == 3) list.Next.Next = list;
                        if (i == 10) return string.Format("{0} caught, at {1}, sum {2}", caught, walked, sum);
                    }
                }
                finally
                {
                    sum = sum * 2 + walked;
                }
            }
            catch (NullReferenceException)
            {
                caught++;
                sum++;
            }
        }
        return "not reached";
    }

    // The slow path of a lock, taken while another thread holds it.
    static string Contended()
    {
        object gate = new object();
        int shared = 0;
        var other = new Thread(() =>
        {
            while (!stop)
                lock (gate) { shared++; Thread.SpinWait(2000); }
        });
        other.Start();
        long sum = 0;
        double half = 0;
        string text = "";
        for (int i = 0; i < 300; i++)
        {
            lock (gate)
            {
                shared += i;
                sum += i;
                half += 0.5;
            }
            if (i % 100 == 0) text += i;
            for (int j = 0; j < 50; j++) sum += j ^ i;
        }
        stop = true;
        other.Join();
        return string.Format("{0} {1} {2} {3}", sum, half, text, shared > 300 * 299 / 2 - 1);
    }

    // Casts that ask the runtime, in a loop with many values in registers.
    static string Casts(object[] things)
    {
        long sum = 0;
        double product = 1;
        int lists = 0, failed = 0;
        for (int i = 0; i < 40; i++)
        {
            object thing = things[i % things.Length];
            try
            {
                var list = (IList<int>)thing;
                lists += list.Count;
            }
            catch (InvalidCastException)
            {
                failed += i;
            }
            sum += i * lists;
            product *= 1.01;
            if (thing is IEnumerable<int>) sum++;
        }
        return string.Format("{0} {1} {2} {3:F4}", sum, lists, failed, product);
    }

    static void Main()
    {
        var list = new Node { Value = 7, Next = new Node { Value = 11, Next = new Node { Value = 13 } } };
        foreach (int limit in new[] { 4, 5, 6, 7, 8, 9 })
            Console.WriteLine(Faults(list, limit, limit));
        Console.WriteLine(Nulls(list));
        Console.WriteLine(Contended());
        Console.WriteLine(Casts(new object[] { new[] { 1, 2 }, "text", new List<int> { 5 }, new object() }));
    }
}
