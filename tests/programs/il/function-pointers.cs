// C# over an IL library: function pointers of static, virtual and generic methods through calli.
using System;

static class Program
{
    class Shape { public virtual string Name(int n) { return "shape" + n; } }
    class Circle : Shape { public override string Name(int n) { return "circle" + n; } }

    static int Square(int x) { return x * x; }
    static int Throwing(int x) { throw new InvalidOperationException("through calli " + x); }

    static void Main()
    {
        Func<int, int> square = Square, throwing = Throwing;
        IntPtr pointer = square.Method.MethodHandle.GetFunctionPointer();
        Console.WriteLine(Pointers.Call(pointer, 12));
        int sum = 0;
        for (int i = 0; i < 10000; i++)
            sum += Pointers.Call(pointer, i % 10);
        Console.WriteLine(sum);
        try
        {
            Pointers.Call(throwing.Method.MethodHandle.GetFunctionPointer(), 3);
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);
        }
        Console.WriteLine(Pointers.Constrained(5) + Pointers.Constrained("s") + Pointers.Constrained(DayOfWeek.Sunday));
        Console.WriteLine(Pointers.Identity(Tuple.Create(1, 2)));
    }
}
