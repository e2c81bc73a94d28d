// Rectangular arrays: element access in all kinds, bounds per dimension, lower bounds, initialisers.
using System;

static class Program
{
    struct Cell
    {
        public byte Tag;
        public double Value;
    }

    static void Increment(ref int x)
    {
        x++;
    }

    static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (Exception e)
        {
            Console.WriteLine(e.GetType().Name);
        }
    }

    static void Main()
    {
        int[,] grid = { { 1, 2, 3 }, { 4, 5, 6 } };
        Console.WriteLine("{0} {1} {2} {3}", grid.Rank, grid.Length, grid.GetLength(0), grid.GetLength(1));
        int sum = 0;
        foreach (int x in grid)
            sum = sum * 10 + x;
        Console.WriteLine(sum);
        Increment(ref grid[1, 2]);
        grid[0, 1] += 40;
        Console.WriteLine("{0} {1}", grid[1, 2], grid[0, 1]);

        long[,,] cube = new long[2, 3, 4];
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++)
                for (int k = 0; k < 4; k++)
                    cube[i, j, k] = i * 100 + j * 10 + k;
        Console.WriteLine("{0} {1}", cube[1, 2, 3], cube[0, 2, 1]);

        string[,] names = new string[2, 2];
        names[1, 0] = "x";
        Console.WriteLine("{0} {1}", names[1, 0], names[0, 0] == null);
        Cell[,] cells = new Cell[3, 3];
        cells[2, 1].Value = 2.5;
        cells[2, 1].Tag = 9;
        Cell copy = cells[2, 1];
        cells[2, 1].Tag = 1;
        Console.WriteLine("{0} {1} {2}", copy.Value == 2.5, copy.Tag, cells[1, 2].Tag);

        int two = 2, minus = -1;
        Try(() => Console.WriteLine(grid[two, 0]));
        Try(() => Console.WriteLine(grid[0, 3]));
        Try(() => Console.WriteLine(grid[minus, 0]));
        Try(() => grid[0, minus] = 1);
        Try(() => Console.WriteLine(new int[two, minus]));
        Try(() => ((object[,])names)[0, 0] = 5);

        Array based = Array.CreateInstance(typeof(int), new[] { 3, 2 }, new[] { 10, -1 });
        based.SetValue(7, 12, 0);
        Console.WriteLine("{0} {1} {2}", based.GetValue(12, 0), based.GetLowerBound(0), based.GetUpperBound(1));
        int[,] typed = (int[,])based;
        typed[10, -1] = 3;
        Console.WriteLine("{0} {1}", typed[10, -1] + typed[12, 0], typed.Length);
        Try(() => Console.WriteLine(typed[0, 0]));
        Array vector = Array.CreateInstance(typeof(string), new[] { 2 }, new[] { 1 });
        vector.SetValue("one", 1);
        Console.WriteLine("{0} {1}", vector.GetValue(1), vector.GetType().Name);

        int[,] clone = (int[,])grid.Clone();
        clone[0, 0] = 99;
        Console.WriteLine("{0} {1}", grid[0, 0], clone[0, 0]);
        Array.Clear(clone, 1, 2);
        Console.WriteLine("{0} {1} {2} {3}", clone[0, 0], clone[0, 1], clone[0, 2], clone[1, 0]);
        int[,] copyTo = new int[3, 2];
        Array.Copy(grid, copyTo, 6);
        Console.WriteLine("{0} {1}", copyTo[0, 1], copyTo[2, 1]);
        int[][,] mixed = { grid, new int[1, 1] };
        Console.WriteLine("{0} {1}", mixed[0][1, 1], mixed.GetType().Name);
        bool[,] flags = new bool[2, 2];
        flags[1, 1] = true;
        char[,] letters = { { 'a' }, { 'b' } };
        Console.WriteLine("{0} {1} {2}", flags[1, 1], flags[0, 1], letters[1, 0]);
    }
}
