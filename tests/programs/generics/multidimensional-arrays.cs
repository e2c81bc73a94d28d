// Members of T[,] named in generic code: their signatures are written in terms of the caller's parameters.
using System;

class Grid<T>
{
    readonly T[,] cells = new T[2, 3];
    public T this[int x, int y] { get { return cells[x, y]; } set { cells[x, y] = value; } }
    public void Swap(ref T a, ref T b) { T c = a; a = b; b = c; }
    public void Exchange() { Swap(ref cells[0, 0], ref cells[1, 2]); }
    public U[,,] Cube<U>(U value)
    {
        var cube = new U[1, 2, 2];
        cube[0, 1, 1] = value;
        return cube;
    }
}

class Program
{
    static void Test<T>(T a, T b)
    {
        var grid = new Grid<T>();
        grid[0, 0] = a;
        grid[1, 2] = b;
        grid.Exchange();
        Console.WriteLine("{0} {1} {2}", grid[0, 0], grid[1, 2], grid.Cube(a)[0, 1, 1]);
    }

    static void Main()
    {
        Test(1, 2);
        Test("one", "two");
        Test(1.5m, 2.5m);
        Test(DayOfWeek.Monday, DayOfWeek.Friday);
    }
}
