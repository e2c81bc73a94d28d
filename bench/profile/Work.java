// Work for profilers: the same in C#, Go and Java. Arguments: calls, floats, alloc or trees; rounds.
final class Small {
    final int value;

    Small(int value) { this.value = value; }
}

final class Tree {
    private Tree left, right;

    static Tree build(int depth) {
        Tree tree = new Tree();
        if (depth > 0) {
            tree.left = build(depth - 1);
            tree.right = build(depth - 1);
        }
        return tree;
    }

    int count() { return left == null ? 1 : 1 + left.count() + right.count(); }
}

public final class Work {
    static Small kept;

    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    static double element(int i, int j) { return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1); }

    static double floats(int n) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                sum += element(i, j);
        return sum;
    }

    static int alloc(int count) {
        for (int i = 0; i < count; i++)
            kept = new Small(i);
        return kept.value + 1;
    }

    static long round(String mode) {
        switch (mode) {
            case "calls": return fib(32);
            case "floats": return (long) (1000 * floats(500));
            case "alloc": return alloc(1000000);
            case "trees": return Tree.build(14).count();
            default: throw new IllegalArgumentException(mode);
        }
    }

    public static void main(String[] args) {
        long sum = 0;
        for (int rounds = Integer.parseInt(args[1]); rounds > 0; rounds--)
            sum += round(args[0]);
        System.out.println(sum);
    }
}
