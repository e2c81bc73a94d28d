// A call of an interface method whose default implementations are several, none the most specific, fails by itself; the type is usable.
using System;

static class Program
{
    static void Try(Func<int> call)
    {
        try
        {
            Console.WriteLine(call());
        }
        catch (Exception e)
        {
            Console.WriteLine($"{e.GetType()}: {e.Message} {e.HResult:x}");
            Console.WriteLine(e.StackTrace.Split('\n')[0]);
        }
    }

    static void Main()
    {
        IBase both = new Both();
        Try(() => both.Other());
        Try(() => both.Of(1));
        Try(() => both.Of(1));
        Try(() => ((IBase)new Specific()).Of(1));
    }
}
