using System;
using System.Linq;

// Arrays of several dimensions and with bounds, Copy with conversions, Clear, boxed access, sorting.
class Arrays
{
    struct Pair { public int A; public string B; public override string ToString() => $"{A}{B}"; }

    static void Report(Action action)
    {
        try { action(); Console.WriteLine("none"); }
        catch (Exception e) { Console.WriteLine($"{e.GetType().Name}: {e.Message}"); }
    }

    static void Main()
    {
        var grid = new int[3, 4];
        for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) grid[i, j] = i * 10 + j;
        Console.WriteLine($"{grid.Rank} {grid.Length} {grid.GetLength(0)} {grid.GetLength(1)} {grid.GetUpperBound(1)} {grid.GetLowerBound(0)}");
        Console.WriteLine($"{grid.GetValue(2, 3)} {grid.GetValue(new[] { 1, 1 })}");
        grid.SetValue(99, 2, 3);
        Console.WriteLine(string.Join(",", grid.Cast<int>()));
        Array.Clear(grid, 2, 3);
        Console.WriteLine(string.Join(",", grid.Cast<int>()));
        Array.Clear(grid);
        Console.WriteLine(grid.Cast<int>().Sum());
        Report(() => grid.GetValue(3, 0));
        Report(() => grid.GetLength(2));
        var based = Array.CreateInstance(typeof(string), new[] { 2, 2 }, new[] { 5, -1 });
        based.SetValue("x", 6, 0);
        Console.WriteLine($"{based.GetLowerBound(0)} {based.GetUpperBound(0)} {based.GetLowerBound(1)} {based.GetUpperBound(1)} {based.GetValue(6, 0)} {based.GetType()}");
        Report(() => based.SetValue(1, 6, 0));
        var line = Array.CreateInstance(typeof(int), new[] { 3 }, new[] { 10 });
        line.SetValue(4, 11);
        Console.WriteLine($"{line.GetValue(11)} {line.GetType()} {line.Length}");
        Array.Clear(line, 11, 1);
        Console.WriteLine(line.GetValue(11));
        Console.WriteLine(Array.CreateInstance(typeof(double), 3).GetType());
        Report(() => Array.CreateInstance(typeof(void), 3));
        Report(() => Array.CreateInstance(typeof(int), -1));
        var longs = new long[3];
        Array.Copy(new[] { 1, 2, 3 }, longs, 3);
        Console.WriteLine(string.Join(",", longs));
        var objects = new object[3];
        Array.Copy(new[] { 1, 2, 3 }, objects, 3);
        Console.WriteLine(string.Join(",", objects));
        var ints = new int[3];
        Array.Copy(objects, ints, 3);
        Console.WriteLine(string.Join(",", ints));
        objects[1] = "no";
        Report(() => Array.Copy(objects, ints, 3));
        Report(() => Array.Copy(new long[1], new int[1], 1));
        Report(() => Array.Copy(ints, 1, longs, 1, 5));
        var strings = new[] { "b", "a", "c" };
        Array.Copy(strings, 0, strings, 1, 2);
        Console.WriteLine(string.Join(",", strings));
        var pairs = new Pair[3];
        pairs[1] = new Pair { A = 1, B = "one" };
        var copied = (Pair[])pairs.Clone();
        Array.Clear(pairs, 1, 1);
        Console.WriteLine($"{copied[1]} {pairs[1].B == null}");
        ((Array)pairs).SetValue(new Pair { A = 2, B = "two" }, 0);
        Console.WriteLine(((Array)pairs).GetValue(0));
        Report(() => ((Array)pairs).SetValue("x", 0));
        Report(() => ((Array)ints).SetValue(1L, 0));
        ((Array)longs).SetValue((short)7, 2);
        Console.WriteLine(longs[2]);
        var nullable = new int?[2];
        ((Array)nullable).SetValue(5, 0);
        ((Array)nullable).SetValue(null, 1);
        Console.WriteLine($"{nullable[0]} {nullable[1] == null}");
        Array.Sort(strings);
        Array.Reverse(strings);
        Console.WriteLine(string.Join(",", strings) + Array.BinarySearch(new[] { 1, 3, 5 }, 3) + Array.IndexOf(ints, 2));
        var bytes = new byte[8];
        Buffer.BlockCopy(new[] { 0x01020304, 5 }, 0, bytes, 1, 6);
        Console.WriteLine($"{BitConverter.ToString(bytes)} {Buffer.ByteLength(longs)} {Buffer.GetByte(new short[] { 258 }, 1)}");
        Report(() => Buffer.ByteLength(new string[1]));
        int[] big = new int[100];
        Array.Fill(big, 3);
        Array.Resize(ref big, 150);
        Console.WriteLine($"{big.Sum()} {big.AsSpan(99, 3)[1]}");
        var jagged = new[] { new[] { 1 }, new[] { 2, 3 } };
        Console.WriteLine(jagged.SelectMany(a => a).Sum());
        foreach (int n in (System.Collections.IEnumerable)grid) Console.Write(n);
        Console.WriteLine();
        Console.WriteLine(((System.Collections.Generic.IList<int>)ints).Contains(3));
    }
}
