// GetInterfaceMap where interfaces implement methods: the interface's own method stands for the class's, and nothing for what
// several implement or one has made abstract again.
using System;
using System.Reflection;

class Program
{
    static string Name(MethodInfo method)
    {
        return method == null ? "nothing" : method.DeclaringType.Name + "." + method.Name + " of " + method.ReflectedType.Name;
    }

    static void Main()
    {
        foreach (var type in new[] { typeof(OfDefaults), typeof(Ambiguous), typeof(Again), typeof(Own) })
        {
            var map = type.GetInterfaceMap(typeof(IFoo));
            Console.WriteLine(type.Name + " " + map.InterfaceMethods.Length);
            for (int i = 0; i < map.InterfaceMethods.Length; i++)
                Console.WriteLine("  " + map.InterfaceMethods[i].Name + ": " + Name(map.TargetMethods[i]));
        }
        var given = typeof(OfDefaults).GetInterfaceMap(typeof(IFoo)).TargetMethods[0];
        Console.WriteLine(given.Equals(typeof(IFoo).GetMethod("Given")));
    }
}
