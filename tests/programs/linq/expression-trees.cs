// Expression trees: what the C# compiler builds and what the factory methods build, printed and inspected.
using System;
using System.Linq;
using System.Linq.Expressions;

class Point
{
    public int X { get; set; }
    public int Y;
    public int Sum() { return X + Y; }
}

static class Program
{
    static void Main()
    {
        Expression<Func<int, int, int>> add = (a, b) => a + b * 2;
        Console.WriteLine("{0} {1} {2}", add, add.Body.NodeType, add.Parameters.Count);
        Expression<Func<string, bool>> test = s => s != null && s.Length > 3;
        Console.WriteLine(test);
        Expression<Func<Point>> init = () => new Point { X = 1, Y = 2 };
        Console.WriteLine("{0} {1}", init, ((MemberInitExpression)init.Body).Bindings[1].Member.Name);
        Expression<Func<Point, int>> call = p => p.Sum() + p.X;
        Console.WriteLine("{0} {1}", call, call.ReturnType);
        Expression<Func<object, string>> typed = o => o is string ? (string)o : o.GetType().Name;
        Console.WriteLine(typed);
        ParameterExpression n = Expression.Parameter(typeof(int), "n");
        Expression body = Expression.Condition(
            Expression.GreaterThan(n, Expression.Constant(1)),
            Expression.Multiply(n, Expression.Convert(Expression.Constant(2.5), typeof(int))),
            Expression.Negate(n));
        Console.WriteLine("{0} {1}", body, body.Type);
        Console.WriteLine(new[] { 3, 1, 2 }.AsQueryable().Where(x => x > 1).Select(x => x * 10).Expression);
        try
        {
            Expression.Add(n, Expression.Constant("s"));
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.GetType().Name);
        }
    }
}
