// Shared code refuses a constrained call of a default implementation that could have been one of the struct's own method.
using System;

static class Program
{
    static void Tries(string name, Func<int> call)
    {
        try
        {
            Console.WriteLine($"{name}: {call()}");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{name}: {e.GetType()}: {e.Message}");
        }
    }

    static void Main()
    {
        Tries("first 1", () => Calls.Check<First<object>, IOne<object>>(default));
        Tries("first 3", () => Calls.Check<First<object>, IThree<object>>(default));
        Tries("first atom", () => Calls.Check<First<object>, Atom>(default));
        Tries("last 1", () => Calls.Check<Last<object>, IOne<object>>(default));
        Tries("last 2", () => Calls.Check<Last<object>, ITwo<object>>(default));
        Tries("last 3", () => Calls.Check<Last<object>, IThree<object>>(default));
        Tries("last atom", () => Calls.Check<Last<object>, Atom>(default));
        Tries("last int 3", () => Calls.Check<Last<int>, IThree<int>>(default));
        Tries("last Atom 3", () => Calls.Check<Last<Atom>, IThree<Atom>>(default));
        Tries("single", () => Calls.Check<Single<object>, IOne<object>>(default));
        Tries("single int", () => Calls.Check<Single<int>, IOne<int>>(default));
        Tries("all 1", () => Calls.Check<AllDefault<object>, IOne<object>>(default));
        Tries("all 2", () => Calls.Check<AllDefault<object>, ITwo<object>>(default));
        Tries("exact", () => Calls.Exact(default));
        Tries("over string", () => Calls.OverLast<string>(default));
        Tries("over int", () => Calls.OverLast<int>(default));
    }
}
