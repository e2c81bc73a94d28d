// Loops over arrays that call methods of objects which do not change on the way: interfaces, virtual methods, delegates,
// and fields of such objects. They get hot with objects of one class or two; then others come, null, and shorter arrays.
using System;

interface IMap
{
    int Map(int n);
}

class Table : IMap
{
    public int[] items;
    public int count;
    public int Map(int n) { return items[n] + 1; }
}

class Shifted : IMap
{
    int by = 3;
    public int Map(int n) { return n + by; }
}

// Smaller than the others: what their code reads lies behind its objects.
class Same : IMap
{
    public int Map(int n) { return n; }
}

class Swapping : IMap
{
    public Table table;
    public int[] other;
    public int Map(int n)
    {
        if (n == 2)
            table.items = other;
        return n;
    }
}

abstract class Shape
{
    public abstract int Area(int n);
}

class Square : Shape
{
    public int side = 2;
    public override int Area(int n) { return n * side; }
}

class Dot : Shape
{
    public override int Area(int n) { return 1; }
}

static class Program
{
    static int steps;

    static int Maps(IMap map, int[] numbers, int start, int limit)
    {
        int sum = 0;
        for (int i = start; i < limit; i++)
        {
            steps++;
            sum = sum * 3 + map.Map(numbers[i]);
        }
        return sum;
    }

    static int Nested(IMap first, IMap second, int[] numbers, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum = sum * 3 + first.Map(numbers[i]) + second.Map(i);
        }
        return sum;
    }

    static int Areas(Shape shape, int[] numbers, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += shape.Area(numbers[i]);
        }
        return sum;
    }

    static void Fill(Func<int, int> function, int[] to, int limit)
    {
        for (int i = 0; i < limit; i++)
        {
            steps++;
            to[i] = function(i);
        }
    }

    static int Fields(Table table, IMap map, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit && i < table.count; i++)
        {
            steps++;
            sum = sum * 3 + table.items[i] + map.Map(i);
        }
        return sum;
    }

    // The test decides which of two arrays is read.
    static int Either(int[] a, int[] b, int limit, int kind)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += (i & 1) == kind ? a[i] : b[i];
        }
        return sum;
    }

    static int Divided(int[] a, int[] b, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += a[i] / b[i];
        }
        return sum;
    }

    static int Cast(object[] objects, int[] numbers, int limit)
    {
        int sum = 0;
        for (int i = 0; i < limit; i++)
        {
            steps++;
            sum += ((Table)objects[0]).count + ((IMap)objects[1]).Map(numbers[i]);
        }
        return sum;
    }

    static void Try(string name, Func<object> run)
    {
        steps = 0;
        object result;
        try
        {
            result = run();
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
            numbers[i] = i * 7 % count;
        return numbers;
    }

    static string Filled(Func<int, int> function, int[] to, int limit)
    {
        try
        {
            Fill(function, to, limit);
        }
        catch (Exception e)
        {
            return e.GetType().Name + (to == null ? "" : " " + string.Join(",", to));
        }
        return string.Join(",", to);
    }

    static void Main()
    {
        int[] ten = Numbers(10);
        var table = new Table { items = Numbers(10), count = 10 };
        var square = new Square();
        Func<int, int> twice = n => n * 2;
        for (int round = 0; round < 6000; round++)
        {
            Maps(table, ten, 0, 10);
            Nested(table, new Shifted(), ten, 10);
            Areas(square, ten, 10);
            Fill(twice, new int[10], 10);
            Fields(table, new Shifted(), 10);
            Either(ten, ten, 10, 0);
            Divided(ten, new[] { 1, 2, 3, 4, 5, 6, 7, 8, 9, 1 }, 10);
            Cast(new object[] { table, new Shifted() }, ten, 10);
        }
        IMap[] maps = { table, new Shifted(), new Same(), null, new Table(), new Table { items = new int[4] } };
        foreach (IMap map in maps)
        {
            string name = map == null ? "null" : map.GetType().Name;
            Try("maps " + name, () => Maps(map, ten, 0, 10));
            Try("maps beyond " + name, () => Maps(map, ten, 3, 11));
            Try("maps before " + name, () => Maps(map, ten, -1, 4));
            Try("maps none " + name, () => Maps(map, null, 5, 5));
            Try("nested " + name, () => Nested(map, new Shifted(), ten, 10));
            Try("nested second " + name, () => Nested(table, map, ten, 11));
            Try("fields " + name, () => Fields(table, map, 10));
            Try("cast " + name, () => Cast(new object[] { table, map }, ten, 10));
            Try("cast other " + name, () => Cast(new object[] { map, table }, ten, 10));
        }
        foreach (Shape shape in new Shape[] { square, new Dot(), null })
        {
            Try("areas", () => Areas(shape, ten, 10));
            Try("areas beyond", () => Areas(shape, ten, 20));
            Try("areas of none", () => Areas(shape, null, 1));
            Try("no areas", () => Areas(shape, null, 0));
        }
        foreach (int limit in new[] { 0, 3, 5, 6, -1, int.MinValue })
        {
            Try("fill " + limit, () => Filled(twice, new int[5], limit));
            Try("fill with another " + limit, () => Filled(n => 10 / (3 - n), new int[5], limit));
            Try("fill with a list " + limit, () => Filled(twice + (n => n - 1), new int[5], limit));
            Try("fill with none " + limit, () => Filled(null, new int[5], limit));
            Try("fill nothing " + limit, () => Filled(twice, null, limit));
        }
        var swapped = new Table { items = Numbers(10), count = 10 };
        Try("items replaced", () => Fields(swapped, new Swapping { table = swapped, other = new int[6] }, 10));
        Try("fewer items", () => Fields(new Table { items = new int[3], count = 10 }, new Same(), 10));
        Try("no items", () => Fields(new Table { count = 10 }, new Same(), 10));
        Try("no table", () => Fields(null, new Same(), 10));
        Try("no table, no round", () => Fields(null, null, 0));
        Try("one of two", () => Either(ten, null, 1, 0));
        Try("the other one", () => Either(null, ten, 1, 1));
        Try("both, one short", () => Either(ten, new int[4], 10, 0));
        Try("divided by zero", () => Divided(ten, new[] { 1, 1, 0 }, 10));
        Try("divided beyond", () => Divided(ten, new[] { 1, 1, 2 }, 10));
    }
}
