// The calling assembly is that of the caller's caller, for constructors and methods of libraries, and by reflection.
using System;
using System.Reflection;

static class Program
{
    static string Here() => Assembly.GetCallingAssembly().GetName().Name;

    static void Main()
    {
        Console.WriteLine(new Asking().Caller);
        Console.WriteLine(Asking.OfMethod());
        Console.WriteLine(Asking.Own());
        Console.WriteLine(Asking.FromHere());
        Console.WriteLine(Here());
        Console.WriteLine(Assembly.GetExecutingAssembly().GetName().Name);
    }
}
