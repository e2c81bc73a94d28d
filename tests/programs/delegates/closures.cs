// Closures: captured locals are shared variables, one per scope instance; recursion, nesting, generic captures.
using System;
using System.Collections.Generic;
using System.Linq;

class Account
{
    int balance;

    public Action<int> Depositor()
    {
        return amount => balance += amount;
    }

    public Func<int> Reader { get { return () => balance; } }
}

static class Program
{
    static Func<int> CounterFrom(int n)
    {
        return () => n++;
    }

    static Func<T, T> Compose<T>(params Func<T, T>[] functions)
    {
        return x => functions.Aggregate(x, (value, f) => f(value));
    }

    static Func<A, C> Then<A, B, C>(Func<A, B> f, Func<B, C> g)
    {
        return a => g(f(a));
    }

    static void Main()
    {
        Func<int> c1 = CounterFrom(10), c2 = CounterFrom(20);
        Console.WriteLine("{0} {1} {2} {3}", c1(), c1(), c2(), c1());

        List<Func<int>> perIteration = new List<Func<int>>(), shared = new List<Func<int>>();
        foreach (int i in new[] { 1, 2, 3 })
            perIteration.Add(() => i * i);
        for (int i = 0; i < 3; i++)
        {
            int copy = i;
            shared.Add(() => i * 100 + copy++);
        }
        Console.WriteLine(string.Join(" ", perIteration.Select(f => f())));
        Console.WriteLine(string.Join(" ", shared.Select(f => f())) + " " + shared[0]());

        int total = 0;
        Action add = () => total += 5;
        Action twice = () => { add(); add(); };
        twice();
        Console.WriteLine(total);

        Func<int, int> factorial = null;
        factorial = n => n <= 1 ? 1 : n * factorial(n - 1);
        Console.WriteLine(factorial(10));
        Func<Func<int, int>, Func<int, int>> twiceF = f => x => f(f(x));
        Console.WriteLine(twiceF(twiceF(x => x + 3))(0));

        Account account = new Account();
        Action<int> deposit = account.Depositor();
        deposit(5);
        deposit(6);
        Console.WriteLine(account.Reader());
        Console.WriteLine(Compose<string>(s => s + "a", s => s + s, s => "<" + s + ">")("x"));
        Console.WriteLine(Then<int, string, int>(i => new string('x', i), s => s.Length * 2)(7));

        string outer = "o";
        {
            string inner = "i";
            Func<string, string> deep = a => { string local = "l"; Func<string> f = () => outer + inner + local + a; inner += "!"; return f(); };
            Console.WriteLine(deep("p") + deep("q") + inner);
        }
        Func<object> anonymous = () => new { Name = "n", Value = total };
        Console.WriteLine(anonymous());
        Lazy<string> lazy = new Lazy<string>(() => { Console.Write("(made) "); return "lazy"; });
        Console.WriteLine("{0} {1} {2}", lazy.IsValueCreated, lazy.Value, lazy.Value);
    }
}
