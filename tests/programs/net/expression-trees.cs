// Expression trees: built by the compiler and by hand, compiled and interpreted, visited, with closures, loops, exceptions and dynamic calls.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Linq.Expressions;

class Doubles : ExpressionVisitor
{
    protected override Expression VisitConstant(ConstantExpression node) => node.Value is int n ? Expression.Constant(2 * n) : node;
}

static class Test
{
    static void Both<T>(string name, Expression<T> tree, Func<T, object> call) where T : Delegate
        => Console.WriteLine($"{name}: {call(tree.Compile())} {call(tree.Compile(preferInterpretation: true))}");

    static void Main()
    {
        int captured = 10;
        Expression<Func<int, int>> tree = x => x * 3 + captured;
        Console.WriteLine(tree.Body.NodeType + " " + tree.Parameters[0].Name);
        Both("closure", tree, f => f(4));
        captured = 20;
        Both("closure", tree, f => f(4));
        Expression<Func<string, int, string>> members = (s, n) => s.Substring(n).ToUpperInvariant() + new string('-', n) + (s.Length > 3 ? "long" : "short");
        Console.WriteLine(members);
        Both("members", members, f => f("abcdef", 2));
        Expression<Func<int, List<int>>> list = n => new List<int> { n, n + 1 };
        Both("list", list, f => f(5).Sum());
        Console.WriteLine(((Expression<Func<int, int>>)new Doubles().Visit((Expression<Func<int, int>>)(x => x + 21))).Compile()(0));

        ParameterExpression n = Expression.Parameter(typeof(int), "n"), result = Expression.Variable(typeof(int), "result");
        LabelTarget end = Expression.Label(typeof(int));
        var factorial = Expression.Lambda<Func<int, int>>(Expression.Block([result],
            Expression.Assign(result, Expression.Constant(1)),
            Expression.Loop(Expression.IfThenElse(Expression.GreaterThan(n, Expression.Constant(1)),
                Expression.MultiplyAssign(result, Expression.PostDecrementAssign(n)), Expression.Break(end, result)), end)), n);
        Both("factorial", factorial, f => f(10));
        var guarded = Expression.Lambda<Func<int, string>>(Expression.TryCatch(
            Expression.Call(Expression.Divide(Expression.Constant(100), n), "ToString", null),
            Expression.Catch(typeof(DivideByZeroException), Expression.Constant("divided by zero"))), n);
        Both("guarded", guarded, f => f(0) + f(7));
        var choice = Expression.Lambda<Func<int, string>>(Expression.Switch(n, Expression.Constant("many"),
            Expression.SwitchCase(Expression.Constant("one"), Expression.Constant(1)), Expression.SwitchCase(Expression.Constant("two or three"), Expression.Constant(2), Expression.Constant(3))), n);
        Both("choice", choice, f => f(1) + f(3) + f(9));
        Expression<Func<int, Func<int, int>>> curried = a => b => a - b;
        Both("curried", curried, f => f(10)(4));
        Expression<Func<double?, double?, bool>> lifted = (a, b) => a + b > 1;
        Both("lifted", lifted, f => f(0.5, 0.75) + " " + f(null, 1));
        Console.WriteLine(new[] { 1, 2, 3 }.AsQueryable().Where(x => x > 1).Select(x => x * 10).Sum());
        dynamic d = "dynamic";
        Console.WriteLine(d.Length + d.Substring(4) + (d + 1));
        d = 5;
        Console.WriteLine(d * 2.5 + " " + (d > 3));
        try { d.Missing(); } catch (Microsoft.CSharp.RuntimeBinder.RuntimeBinderException e) { Console.WriteLine(e.GetType().Name); }
        try { Expression.Add(Expression.Constant(1), Expression.Constant("x")); } catch (InvalidOperationException e) { Console.WriteLine(e.GetType().Name); }
    }
}
