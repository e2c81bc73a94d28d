// Exceptions that the runtime itself raises, caught in the same method, in a caller, and with live locals.
using System;
using System.Collections.Generic;

class Node
{
    public int Value;
    public Node Next;
    public long[] Data = new long[4];
    public virtual int Get() { return Value; }
}

static class Program
{
    static Node nothing;
    static int zero;
    static List<int> none;

    static void Check(string name, Action action)
    {
        int before = name.Length;
        try
        {
            action();
            Console.WriteLine("{0}: nothing", name);
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1} {2}", name, e.GetType().Name, before == name.Length);
        }
    }

    static int Local(Node node, int[] array, int index, object o)
    {
        int step = 0;
        try
        {
            step = 1;
            int a = array[index];
            step = 2;
            int b = node.Value;
            step = 3;
            string s = (string)o;
            step = 4;
            return a / b;
        }
        catch (IndexOutOfRangeException)
        {
            return step * 100 + 1;
        }
        catch (NullReferenceException)
        {
            return step * 100 + 2;
        }
        catch (InvalidCastException)
        {
            return step * 100 + 3;
        }
        catch (DivideByZeroException)
        {
            return step * 100 + 4;
        }
    }

    static void Main()
    {
        Check("field", () => Console.WriteLine(nothing.Value));
        Check("store", () => nothing.Value = 1);
        Check("far field", () => Console.WriteLine(nothing.Data));
        Check("virtual", () => nothing.Get());
        Check("chain", () => Console.WriteLine(new Node().Next.Next));
        Check("ldlen", () => Console.WriteLine(((int[])null).Length));
        Check("string", () => Console.WriteLine(((string)null).Length));
        Check("unbox", () => Console.WriteLine((int)(object)nothing));
        Check("cast", () => Console.WriteLine((Node)(object)"s"));
        Check("array cast", () => Console.WriteLine(((int[])(object)new long[1]).Length));
        Check("index", () => Console.WriteLine(new Node().Data[4]));
        Check("negative index", () => new Node().Data[zero - 1] = 1);
        Check("array type", () => ((object[])new string[1])[0] = 1);
        Check("divide", () => Console.WriteLine(1 / zero));
        Check("overflow", () => Console.WriteLine(checked(int.MaxValue - zero + 1)));
        Check("throw null", () => { throw null; });
        Check("lock null", () => { lock (nothing) { } });
        Check("foreach null", () => { foreach (int x in none) { } });
        Check("throw", () => { throw new TimeoutException(); });
        Check("key", () => Console.WriteLine(new Dictionary<int, int>()[1]));
        Check("negative length", () => Console.WriteLine(new int[zero - 1].Length));
        Check("abstract", () => Activator.CreateInstance(typeof(Array)));

        Node node = new Node { Value = 2 };
        int[] array = { 8, 9 };
        Console.WriteLine("{0} {1} {2} {3} {4}", Local(node, array, 0, "s"), Local(node, array, 2, "s"), Local(null, array, 0, "s"), Local(node, array, 0, node), Local(new Node(), array, 0, null));
        Console.WriteLine("{0} {1}", Local(node, null, 0, null), Local(node, array, -1, null));

        int caught = 0;
        for (int i = 0; i < 3000; i++)
        {
            try
            {
                if (i % 3 == 0)
                    nothing.Value = i;
                else if (i % 3 == 1)
                    array[i + 1] = 0;
                else
                    caught += i / zero;
            }
            catch (SystemException)
            {
                caught++;
            }
        }
        Console.WriteLine(caught);
    }
}
