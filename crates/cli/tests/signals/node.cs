// Graphs whose checksums are known: a lost or overwritten object shows.
using System;

sealed class Node
{
    public readonly int Value;
    public readonly byte[] Payload;
    public Node Left, Right;

    public Node(int value)
    {
        Value = value;
        Payload = new byte[value & 63];
        for (int i = 0; i < Payload.Length; i++)
            Payload[i] = (byte)(value + i);
    }

    public static Node Build(int depth, int value)
    {
        Node node = new Node(value);
        if (depth > 0)
        {
            node.Left = Build(depth - 1, value * 2 + 1);
            node.Right = Build(depth - 1, value * 2 + 2);
        }
        return node;
    }

    public static long Sum(Node node)
    {
        if (node == null)
            return 0;
        long sum = node.Value;
        for (int i = 0; i < node.Payload.Length; i++)
        {
            if (node.Payload[i] != (byte)(node.Value + i))
                throw new Exception("payload of " + node.Value);
            sum += node.Payload[i];
        }
        return sum * 31 + Sum(node.Left) * 7 + Sum(node.Right);
    }
}
