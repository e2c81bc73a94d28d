// A named argument of an attribute says its own type. Where that is not the type of the field, the attribute cannot be made.

using System;
using System.Reflection;

class Program
{
    static void Show(Type type)
    {
        try
        {
            var marked = (Marked)type.GetCustomAttributes(typeof(Marked), false)[0];
            Console.WriteLine("{0}: {1}", type.Name, marked.number);
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", type.Name, e.GetType().Name);
        }
    }

    static void Main()
    {
        Show(typeof(Right));
        Show(typeof(NumberForText));
        Show(typeof(NumbersForDecimals));
        Show(typeof(TextForNumber));
        Show(typeof(TextsForTypes));
        Console.WriteLine(typeof(MarkedByAnObject).GetCustomAttributes(false).Length);
    }
}
