// A tour of the runtime in one file: generics, LINQ, closures, iterators, exceptions, formatting, threads, tasks,
// reflection, the collector. Each part checks itself and prints one or a few lines.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

interface IShape
{
    double Area { get; }
}

struct Circle : IShape
{
    public double Radius;
    public double Area { get { return Math.PI * Radius * Radius; } }
}

sealed class Rectangle : IShape
{
    public double Width, Height;
    public double Area { get { return Width * Height; } }
}

// A generic class with a constraint, an indexer, an iterator and an operator.
sealed class Matrix<T> where T : struct, IConvertible
{
    readonly T[,] cells;
    readonly Func<T, T, T> add, multiply;

    public Matrix(int rows, int columns, Func<T, T, T> add, Func<T, T, T> multiply)
    {
        cells = new T[rows, columns];
        this.add = add;
        this.multiply = multiply;
    }

    public int Rows { get { return cells.GetLength(0); } }
    public int Columns { get { return cells.GetLength(1); } }

    public T this[int row, int column]
    {
        get { return cells[row, column]; }
        set { cells[row, column] = value; }
    }

    public IEnumerable<T> Cells()
    {
        foreach (T cell in cells)
            yield return cell;
    }

    public static Matrix<T> operator *(Matrix<T> a, Matrix<T> b)
    {
        if (a.Columns != b.Rows)
            throw new ArgumentException(string.Format("{0} columns do not fit {1} rows", a.Columns, b.Rows));
        Matrix<T> product = new Matrix<T>(a.Rows, b.Columns, a.add, a.multiply);
        for (int i = 0; i < a.Rows; i++)
            for (int j = 0; j < b.Columns; j++)
            {
                T sum = default(T);
                for (int k = 0; k < a.Columns; k++)
                    sum = a.add(sum, a.multiply(a[i, k], b[k, j]));
                product[i, j] = sum;
            }
        return product;
    }
}

sealed class Node
{
    public Node Left, Right;

    public static Node Build(int depth)
    {
        return depth == 0 ? new Node() : new Node { Left = Build(depth - 1), Right = Build(depth - 1) };
    }

    public int Count()
    {
        return Left == null ? 1 : 1 + Left.Count() + Right.Count();
    }
}

sealed class Tracked
{
    public static int Finalized;
    ~Tracked() { Interlocked.Increment(ref Finalized); }
}

[AttributeUsage(AttributeTargets.Method)]
sealed class ChapterAttribute : Attribute
{
    public readonly int Order;
    public readonly string Title;

    public ChapterAttribute(int order, string title)
    {
        Order = order;
        Title = title;
    }
}

static class Tour
{
    static void Print(string format, params object[] arguments)
    {
        Console.WriteLine("    " + string.Format(CultureInfo.InvariantCulture, format, arguments));
    }

    [Chapter(1, "interfaces, structs and virtual calls")]
    static void Shapes()
    {
        IShape[] shapes = { new Circle { Radius = 1.5 }, new Rectangle { Width = 2, Height = 3.5 } };
        foreach (IShape shape in shapes)
            Print("{0,-10} area {1,8:F3}", shape.GetType().Name, shape.Area);
    }

    [Chapter(2, "generics over value types")]
    static void Generics()
    {
        Matrix<int> fibonacci = new Matrix<int>(2, 2, (a, b) => a + b, (a, b) => a * b);
        fibonacci[0, 0] = fibonacci[0, 1] = fibonacci[1, 0] = 1;
        Matrix<int> power = fibonacci;
        for (int i = 1; i < 30; i++)
            power = power * fibonacci;
        Print("Fibonacci(30) by matrices = {0:N0}, cells {1}", power[0, 1], string.Join(" ", power.Cells()));
        Matrix<decimal> rates = new Matrix<decimal>(1, 1, (a, b) => a + b, (a, b) => a * b);
        rates[0, 0] = 1.05m;
        Print("compound interest {0:F4}", (rates * rates * rates)[0, 0]);
    }

    [Chapter(3, "LINQ, closures and iterators")]
    static void Queries()
    {
        string text = "the quick brown fox jumps over the lazy dog while the other fox sleeps";
        var words = from word in text.Split(' ')
                    group word by word.Length into lengths
                    orderby lengths.Key
                    select new { Length = lengths.Key, Words = string.Join(",", lengths.Distinct().OrderBy(w => w, StringComparer.Ordinal)) };
        foreach (var row in words)
            Print("{0} letters: {1}", row.Length, row.Words);
        Func<int, IEnumerable<int>> primes = limit => Enumerable.Range(2, limit).Where(n => Enumerable.Range(2, (int)Math.Sqrt(n) - 1).All(d => n % d != 0));
        Print("primes: {0} ...", string.Join(" ", primes(100).Take(12)));
    }

    [Chapter(4, "exceptions: filters, finally blocks, inner exceptions")]
    static void Exceptions()
    {
        StringBuilder log = new StringBuilder();
        foreach (string input in new[] { "12", "0", "x", null })
        {
            try
            {
                log.Append(100 / int.Parse(input));
            }
            catch (DivideByZeroException)
            {
                log.Append("division by zero");
            }
            catch (Exception e) when (input == null)
            {
                log.Append(e.GetType().Name);
            }
            catch (FormatException e)
            {
                log.Append(new InvalidOperationException("wrapped", e).InnerException.GetType().Name);
            }
            finally
            {
                log.Append("; ");
            }
        }
        Print("{0}", log);
        int[] array = new int[3];
        Node nothing = null;
        foreach (Action fault in new Action[] { () => array[3] = 1, () => nothing.Count(), () => ((object[])new string[1])[0] = 5 })
        {
            try
            {
                fault();
            }
            catch (SystemException e)
            {
                Print("{0}: {1}", e.GetType().Name, e.Message);
            }
        }
    }

    [Chapter(5, "formatting and parsing")]
    static void Formatting()
    {
        Print("[{0,8:N2}] [{1:X8}] [{2:P1}] [{3:E3}] [{4:yyyy-MM-dd}] [{5}]", 1234.5, 48879, 0.256, 6.02214e23, new DateTime(2004, 6, 30), TimeSpan.FromSeconds(3723));
        Print("{0} {1} {2}", decimal.Parse("0.1", CultureInfo.InvariantCulture) * 3, 0.1 * 3 == 0.3, (DayOfWeek)5);
        Print("{0}", Convert.ToBase64String(Encoding.UTF8.GetBytes("sake \u9152 \u2713")));
    }

    [Chapter(6, "threads, locks and tasks")]
    static void Threads()
    {
        int shared = 0;
        object gate = new object();
        Thread[] threads = Enumerable.Range(0, 4).Select(n => new Thread(() =>
        {
            for (int i = 0; i < 25000; i++)
                lock (gate)
                    shared++;
        })).ToArray();
        foreach (Thread thread in threads)
            thread.Start();
        foreach (Thread thread in threads)
            thread.Join();
        Print("four threads counted to {0:N0}", shared);
        Print("tasks: {0}", string.Join(" ", Task.WhenAll(Enumerable.Range(1, 8).Select(Square)).Result));
    }

    static async Task<int> Square(int n)
    {
        await Task.Delay(9 - n);
        return n * n;
    }

    [Chapter(7, "the garbage collector")]
    static void Collector()
    {
        Node kept = Node.Build(15);
        long nodes = 0;
        for (int i = 0; i < 40; i++)
            nodes += Node.Build(14).Count();
        WeakReference weak = Drop(5000);
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        Print("{0:N0} short-lived nodes, {1:N0} kept, weak target {2}", nodes, kept.Count(), weak.IsAlive ? "alive" : "collected");
        Print("most of 5,000 finalizers ran: {0}", Tracked.Finalized > 4900);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Drop(int count)
    {
        for (int i = 0; i < count; i++)
            new Tracked();
        return new WeakReference(new byte[100000]);
    }

    static void Main()
    {
        Stopwatch watch = Stopwatch.StartNew();
        var chapters = from method in typeof(Tour).GetMethods(BindingFlags.Static | BindingFlags.NonPublic)
                       let chapter = method.GetCustomAttribute<ChapterAttribute>()
                       where chapter != null
                       orderby chapter.Order
                       select new { chapter.Order, chapter.Title, Run = (Action)Delegate.CreateDelegate(typeof(Action), method) };
        foreach (var chapter in chapters)
        {
            Console.WriteLine("{0}. {1}", chapter.Order, chapter.Title);
            chapter.Run();
        }
        Console.WriteLine("All chapters done in {0} ms.", watch.ElapsedMilliseconds);
    }
}
