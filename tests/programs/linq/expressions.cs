// Expression trees: compiling and running them.
using System;
using System.Collections.Generic;
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
        Console.WriteLine("{0} = {1}", add, add.Compile()(3, 4));
        Expression<Func<string, bool>> test = s => s != null && s.Length > 3;
        Console.WriteLine("{0} {1} {2}", test.Compile()("four"), test.Compile()("no"), test.Compile()(null));
        int captured = 10;
        Expression<Func<int, int>> closure = x => x + captured;
        Func<int, int> compiled = closure.Compile();
        captured = 100;
        Console.WriteLine(compiled(1));
        Expression<Func<Point>> init = () => new Point { X = 1, Y = 2 };
        Console.WriteLine(init.Compile()().Sum());
        Expression<Func<Point, int>> call = p => p.Sum() + p.X;
        Console.WriteLine(call.Compile()(new Point { X = 5, Y = 6 }));

        ParameterExpression n = Expression.Parameter(typeof(int), "n"), result = Expression.Variable(typeof(int), "result");
        LabelTarget done = Expression.Label(typeof(int));
        Expression<Func<int, int>> factorial = Expression.Lambda<Func<int, int>>(
            Expression.Block(
                new[] { result },
                Expression.Assign(result, Expression.Constant(1)),
                Expression.Loop(
                    Expression.IfThenElse(
                        Expression.GreaterThan(n, Expression.Constant(1)),
                        Expression.MultiplyAssign(result, Expression.PostDecrementAssign(n)),
                        Expression.Break(done, result)),
                    done)),
            n);
        Console.WriteLine(factorial.Compile()(6));
        Expression<Func<object, string>> typed = o => o is string ? (string)o : o.GetType().Name;
        Console.WriteLine("{0} {1}", typed.Compile()("text"), typed.Compile()(5));
        Console.WriteLine(string.Join(" ", new[] { 3, 1, 2 }.AsQueryable().Where(x => x > 1).OrderBy(x => x).Select(x => x * 10)));
        Expression<Func<int, Func<int, int>>> curried = x => y => x * y;
        Console.WriteLine(curried.Compile()(6)(7));
        Expression<Func<int, int>> tryCatch = Expression.Lambda<Func<int, int>>(
            Expression.TryCatch(
                Expression.Divide(Expression.Constant(10), n),
                Expression.Catch(typeof(DivideByZeroException), Expression.Constant(-1))),
            n);
        Func<int, int> safe = tryCatch.Compile();
        Console.WriteLine("{0} {1}", safe(5), safe(0));
        List<Func<int>> many = new List<Func<int>>();
        for (int i = 0; i < 50; i++)
            many.Add(Expression.Lambda<Func<int>>(Expression.Add(Expression.Constant(i), Expression.Constant(1))).Compile());
        Console.WriteLine(many.Sum(f => f()));
    }
}
