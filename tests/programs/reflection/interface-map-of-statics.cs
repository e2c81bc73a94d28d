// Static virtual methods of interfaces in reflection: GetInterfaceMap lists them after the instance methods, with
// null where nothing implements them, and fails where implementations conflict; those with a body can be invoked.
using System;
using System.Reflection;

static class Program
{
    static void Map(Type type, Type of)
    {
        InterfaceMapping map;
        try
        {
            map = type.GetInterfaceMap(of);
        }
        catch (Exception e)
        {
            Console.WriteLine($"{type.Name}: {e.GetType().Name}");
            return;
        }
        for (int i = 0; i < map.InterfaceMethods.Length; i++)
        {
            var target = map.TargetMethods[i];
            Console.WriteLine($"{type.Name}: {map.InterfaceMethods[i]} by {target?.DeclaringType.Name ?? "none"}, {target}");
        }
    }

    static void Main()
    {
        foreach (var type in new[] { typeof(C), typeof(D), typeof(E), typeof(F), typeof(G), typeof(H) })
        {
            Map(type, typeof(I));
        }
        Map(typeof(E), typeof(J));
        Map(typeof(OfString), typeof(IOut<string>));
        Map(typeof(OfString), typeof(IOut<object>));
        foreach (var method in typeof(I).GetMethods())
        {
            Console.WriteLine($"{method}: 0x{(int)method.Attributes:x}");
        }
        Console.WriteLine(typeof(I).GetMethod("D").Invoke(null, null));
        Console.WriteLine(typeof(C).GetMethod("A").Invoke(null, null));
        try
        {
            typeof(I).GetMethod("A").Invoke(null, null);
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException.GetType().Name);
        }
    }
}
