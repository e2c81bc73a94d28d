// The events of AppDomain are raised though the program never touches a load context.
using System;
using System.IO;
using System.Reflection;

static class Program
{
    static void Main()
    {
        AppDomain.CurrentDomain.AssemblyResolve += (sender, e) =>
        {
            Console.WriteLine($"asked for {e.Name}");
            return e.Name.StartsWith("Answered") ? typeof(Program).Assembly : null;
        };
        try
        {
            Assembly.Load("Absent, Version=1.0.0.0");
        }
        catch (FileNotFoundException e)
        {
            Console.WriteLine(e.FileName);
        }
        Console.WriteLine(Assembly.Load("Answered, Version=1.0.0.0") == typeof(Program).Assembly);
        AppDomain.CurrentDomain.AssemblyLoad += (sender, e) => Console.WriteLine($"loaded {e.LoadedAssembly.GetName().Name}");
        Assembly.Load("System.Web");
    }
}
