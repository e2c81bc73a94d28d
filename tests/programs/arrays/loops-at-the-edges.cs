// Loops that count through arrays up to limits that need not fit: what is done before an index leaves its array, by
// which round, and where a number wraps around.
using System;

static class Program
{
    static int steps;

    static int Up(int[] a, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i < limit; i++)
        {
            steps++;
            sum += a[i];
        }
        return sum;
    }

    static int UpTo(int[] a, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i <= limit; i++)
        {
            steps++;
            sum += a[i];
            if (steps > 50)
                break;
        }
        return sum;
    }

    static int Down(int[] a, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i >= limit; i--)
        {
            steps++;
            sum += a[i];
            if (steps > 50)
                break;
        }
        return sum;
    }

    static int DownBehind(int[] a, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i > limit; i--)
        {
            steps++;
            sum += a[i - 1];
        }
        return sum;
    }

    static int ByThree(int[] a, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i < limit; i += 3)
        {
            steps++;
            sum += a[i];
            if (steps > 50)
                break;
        }
        return sum;
    }

    static int Shifted(int[] a, int[] b, int start, int limit, int by)
    {
        for (int i = start; i < limit; i++)
        {
            steps++;
            a[i] = b[i + by] + b[i - by];
        }
        return a[0];
    }

    static int Neighbours(int[] a, int limit)
    {
        int sum = 0;
        for (int i = 1; i < limit; i++)
        {
            steps++;
            sum += a[i - 1] * a[i + 1];
        }
        return sum;
    }

    static int Unsigned(int[] a, uint start, uint limit)
    {
        int sum = 0;
        for (uint i = start; i < limit; i++)
        {
            steps++;
            sum += a[i];
            if (steps > 50)
                break;
        }
        return sum;
    }

    static int Rows(int[][] a, int row, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += a[row][i];
        }
        return sum;
    }

    // The row that is read is replaced on the way.
    static int Replaced(int[][] a, int[] other, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += a[1][i];
            if (i == 1)
                a[1] = other;
        }
        return sum;
    }

    static int ByIndex(int[] a, int[] indices, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += a[indices[i]];
        }
        return sum;
    }

    // The index is changed in one round more often than in others.
    static int Skipping(int[] a, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += a[i];
            if (sum % 3 == 0)
                i++;
        }
        return sum;
    }

    static int AfterStep(int[] a, int limit)
    {
        int sum = 0, i = 0;
        while (i < limit)
        {
            steps++;
            i++;
            sum += a[i];
        }
        return sum;
    }

    static int TwoArrays(long[] a, byte[] b, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            a[i] = i;
            sum += b[i];
        }
        return sum;
    }

    class Buffer
    {
        public int[] Items;
        public int Count;

        public int Sum()
        {
            int sum = 0;
            for (int i = 0; i < Count; i++)
            {
                steps++;
                sum += Items[i];
            }
            return sum;
        }

        public int Growing(int limit)
        {
            int sum = 0;
            for (int i = 0; i < Count; i++)
            {
                steps++;
                sum += Items[i];
                if (Count < limit)
                    Count++;
            }
            return sum;
        }
    }

    static int InTry(int[] a, int limit)
    {
        int sum = 0, i = 0;
        try
        {
            for (i = 0; i < limit; i++)
            {
                steps++;
                sum += a[i];
            }
        }
        catch (IndexOutOfRangeException)
        {
            return -1000 * i - sum;
        }
        return sum;
    }

    static void Try(string name, Func<int> run)
    {
        steps = 0;
        string result;
        try
        {
            result = run().ToString();
        }
        catch (Exception e)
        {
            result = e.GetType().Name;
        }
        Console.WriteLine(name + ": " + result + " after " + steps);
    }

    static int[] Numbers(int count)
    {
        var numbers = new int[count];
        for (int i = 0; i < count; i++)
            numbers[i] = i * i + 1;
        return numbers;
    }

    static void All(bool print)
    {
        int[] ten = Numbers(10);
        int[] limits = { 0, 1, 5, 10, 11, -1, int.MaxValue, int.MinValue, int.MaxValue - 1 };
        foreach (int start in new[] { 0, 3, 9, 10, -1, int.MinValue, int.MaxValue - 2 })
        {
            foreach (int limit in limits)
            {
                string at = " " + start + " " + limit;
                Run(print, "up" + at, () => Up(ten, start, limit));
                Run(print, "up to" + at, () => UpTo(ten, start, limit));
                Run(print, "down" + at, () => Down(ten, start, limit));
                Run(print, "down behind" + at, () => DownBehind(ten, start, limit));
                Run(print, "by three" + at, () => ByThree(ten, start, limit));
                Run(print, "unsigned" + at, () => Unsigned(ten, (uint)start, (uint)limit));
            }
        }
        foreach (int by in new[] { 0, 1, 3, -2, 11, int.MinValue, int.MaxValue })
        {
            Run(print, "shifted by " + by, () => Shifted(Numbers(10), ten, 3, 7, by));
            Run(print, "shifted from 0 by " + by, () => Shifted(Numbers(10), ten, 0, 10, by));
        }
        foreach (int limit in new[] { 0, 2, 9, 10, 11 })
        {
            int[][] rows = { ten, Numbers(10), null, Numbers(3) };
            Run(print, "neighbours " + limit, () => Neighbours(ten, limit));
            for (int row = -1; row < 5; row++)
            {
                int number = row;
                Run(print, "row " + row + " " + limit, () => Rows(rows, number, limit));
            }
            Run(print, "replaced " + limit, () => Replaced(new[] { ten, Numbers(10) }, Numbers(4), limit));
            Run(print, "no rows " + limit, () => Rows(null, 0, limit));
            Run(print, "by index " + limit, () => ByIndex(ten, new[] { 3, 9, 0, 1, 2, 4, 8, 8, 5, 10, 4 }, limit));
            Run(print, "skipping " + limit, () => Skipping(ten, limit));
            Run(print, "after step " + limit, () => AfterStep(ten, limit));
            Run(print, "two arrays " + limit, () => TwoArrays(new long[9], new byte[10], limit));
            Run(print, "two arrays, one null " + limit, () => TwoArrays(new long[9], null, limit));
            Run(print, "none " + limit, () => Up(null, 0, limit));
            Run(print, "buffer " + limit, () => new Buffer { Items = ten, Count = limit }.Sum());
            Run(print, "no items " + limit, () => new Buffer { Count = limit }.Sum());
            Run(print, "growing " + limit, () => new Buffer { Items = ten, Count = 1 }.Growing(limit));
            Run(print, "in a try block " + limit, () => InTry(ten, limit));
        }
    }

    static void Run(bool print, string name, Func<int> run)
    {
        if (print)
        {
            Try(name, run);
            return;
        }
        try
        {
            steps = 0;
            run();
        }
        catch (Exception)
        {
        }
    }

    static void Main()
    {
        for (int round = 0; round < 60; round++)
            All(false);
        All(true);
    }
}
