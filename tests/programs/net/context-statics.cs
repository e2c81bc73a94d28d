// .NET has no contexts: a field with [ContextStatic] is a static field as any other, also on other threads.
using System;
using System.Threading;

static class Program
{
    [ContextStatic] static int number = 5;
    [ContextStatic] static string text = "first";
    [ThreadStatic] static int own;

    static void Main()
    {
        own = 1;
        var thread = new Thread(() =>
        {
            Console.WriteLine($"{number} {text} {own}");
            (number, text, own) = (6, "second", 2);
        });
        thread.Start();
        thread.Join();
        Console.WriteLine($"{number} {text} {own}");
    }
}
