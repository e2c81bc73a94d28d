// Allocation in quantity: many sizes and shapes, survivors mixed with garbage, large objects, contents checked after.
using System;
using System.Collections.Generic;

class Node
{
    public Node Left, Right;
    public int Value;
    public byte[] Payload;
}

struct Fat
{
    public object A, B;
    public long C;
    public string D;
}

static class Program
{
    static Node Build(int depth, ref int counter)
    {
        Node node = new Node { Value = counter++, Payload = new byte[depth] };
        if (depth > 0)
        {
            node.Left = Build(depth - 1, ref counter);
            node.Right = Build(depth - 1, ref counter);
        }
        return node;
    }

    static long Check(Node node)
    {
        return node == null ? 0 : node.Value + node.Payload.Length + Check(node.Left) + Check(node.Right);
    }

    static void Main()
    {
        int counter = 0;
        Node kept = Build(12, ref counter);
        for (int i = 0; i < 20; i++)
        {
            int ignored = 0;
            Build(10, ref ignored);
        }
        Console.WriteLine("{0} {1}", counter, Check(kept));

        List<object> survivors = new List<object>();
        Random random = new Random(3);
        long checksum = 0;
        for (int i = 0; i < 50000; i++)
        {
            object o;
            switch (random.Next(7))
            {
                case 0: o = new byte[random.Next(200)]; break;
                case 1: o = new int[random.Next(20), random.Next(5)]; break;
                case 2: o = new string('x', random.Next(50)); break;
                case 3: o = i; break;
                case 4: o = new Fat[random.Next(4)]; break;
                case 5: o = new Func<int>(() => i); break;
                default: o = new object[] { i, i.ToString() }; break;
            }
            if (i % 50 == 0)
                survivors.Add(o);
        }
        foreach (object o in survivors)
        {
            Array array = o as Array;
            checksum += array != null ? array.Length : o is string ? ((string)o).Length * 3 : o is int ? 1 : 2;
        }
        Console.WriteLine("{0} {1}", survivors.Count, checksum);

        byte[][] large = new byte[20][];
        for (int i = 0; i < 200; i++)
        {
            byte[] block = new byte[100000 + i * 1000];
            block[0] = (byte)i;
            block[block.Length - 1] = (byte)(i + 1);
            large[i % 20] = block;
        }
        int good = 0;
        for (int i = 180; i < 200; i++)
            if (large[i % 20][0] == (byte)i && large[i % 20][large[i % 20].Length - 1] == (byte)(i + 1) && large[i % 20][5000] == 0)
                good++;
        Console.WriteLine(good);

        // Old objects that point at young ones.
        object[] old = new object[1000];
        GC.Collect();
        for (int round = 0; round < 20; round++)
        {
            for (int i = 0; i < old.Length; i++)
                old[i] = new[] { round, i };
            int sum = 0;
            foreach (int[] pair in old)
                sum += pair[0] * pair[1];
            if (sum != round * 499500)
                Console.WriteLine("lost something in round {0}", round);
        }
        Fat[] fats = new Fat[500];
        GC.Collect();
        for (int i = 0; i < fats.Length; i++)
            fats[i] = new Fat { A = i.ToString(), D = "d" + i, C = i, B = new object() };
        GC.Collect(0);
        string joined = "";
        for (int i = 0; i < fats.Length; i += 100)
            joined += (string)fats[i].A + fats[i].D + " ";
        Console.WriteLine(joined);
        Node list = null;
        for (int i = 0; i < 300000; i++)
            list = new Node { Left = list, Value = 1 };
        int length = 0;
        for (; list != null; list = list.Left)
            length += list.Value;
        Console.WriteLine(length);
        Console.WriteLine("{0} {1} {2}", GC.MaxGeneration >= 0, GC.GetTotalMemory(false) > 0, GC.CollectionCount(0) > 0);
    }
}
