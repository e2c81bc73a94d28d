// A heap of many small objects: a list with values beside its nodes. Argument: how many objects.
using System;

sealed class Node { public Node Next; public object Value; }

static class Objects
{
    static Node list;

    static void Main(string[] args)
    {
        for (int left = int.Parse(args[0]); left > 0; left -= 2)
            list = new Node { Next = list, Value = new object() };
        Console.WriteLine(list != null);
    }
}
