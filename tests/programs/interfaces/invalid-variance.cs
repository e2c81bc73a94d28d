// Type parameters marked `in` or `out` that stand where they may not: such types cannot be loaded, nor what implements them.
using System;

class Program
{
    static void Try(string name, Func<object> load)
    {
        try
        {
            load();
            Console.WriteLine(name + ": loaded");
        }
        catch (TypeLoadException)
        {
            Console.WriteLine(name + ": TypeLoadException");
        }
    }

    static void Main()
    {
        Try("Good", () => typeof(Good<string, object>));
        Try("TakesOut", () => typeof(TakesOut<string>));
        Try("GivesIn", () => typeof(GivesIn<string>));
        Try("ByReference", () => typeof(ByReference<string>));
        Try("Invariant", () => typeof(Invariant<string>));
        Try("Inherits", () => typeof(Inherits<string>));
        Try("Constrains", () => typeof(Constrains<string>));
        Try("TakesOutDelegate", () => typeof(TakesOutDelegate<string>));
        Try("GoodDelegate", () => typeof(GoodDelegate<string, object>));
        Try("Implements", () => new Implements());
    }
}
