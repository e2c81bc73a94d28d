// Collector: short-lived trees of many sizes beside one long-lived tree. Argument: depth of the largest (default 18).
using System;

sealed class Node
{
    Node left, right;

    public static Node Build(int depth)
    {
        Node node = new Node();
        if (depth > 0)
        {
            node.left = Build(depth - 1);
            node.right = Build(depth - 1);
        }
        return node;
    }

    public int Count()
    {
        return left == null ? 1 : 1 + left.Count() + right.Count();
    }
}

static class BinaryTrees
{
    static void Main(string[] args)
    {
        const int minDepth = 4;
        int maxDepth = args.Length > 0 ? int.Parse(args[0]) : 18;
        Console.WriteLine("stretch {0}", Node.Build(maxDepth + 1).Count());
        Node longLived = Node.Build(maxDepth);
        for (int depth = minDepth; depth <= maxDepth; depth += 4)
        {
            int trees = 1 << (maxDepth - depth + minDepth), nodes = 0;
            for (int i = 0; i < trees; i++)
                nodes += Node.Build(depth).Count();
            Console.WriteLine("{0} trees of depth {1}: {2}", trees, depth, nodes);
        }
        Console.WriteLine("long lived {0}", longLived.Count());
    }
}
