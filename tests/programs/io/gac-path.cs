// The class library finds the assembly cache below the path that the runtime gives it.
using System;
using System.IO;
using System.Reflection;

class Program
{
    static void Main()
    {
        var property = typeof(Environment).GetProperty("GacPath", BindingFlags.Static | BindingFlags.NonPublic);
        var path = (string)property.GetValue(null, null);
        Console.WriteLine(Directory.Exists(Path.Combine(path, "System")));
        Console.WriteLine(typeof(Uri).Assembly.Location.StartsWith(path));
    }
}
