// AssemblyLoadContext: the same assembly twice, resolving events, entry assembly, contexts of reflection.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.Loader;

class Own(string name) : AssemblyLoadContext(name, isCollectible: false)
{
    protected override Assembly Load(AssemblyName name)
    {
        Console.WriteLine("load " + name.Name);
        return null;
    }
}

public static class Counter { public static int Value; public static int Next() => ++Value; }

static class Test
{
    static void Main()
    {
        Assembly self = typeof(Test).Assembly;
        Console.WriteLine(AssemblyLoadContext.Default.Name + " " + (AssemblyLoadContext.GetLoadContext(self) == AssemblyLoadContext.Default) + " " + self.IsCollectible);
        var own = new Own("own");
        Assembly again = own.LoadFromAssemblyPath(self.Location);
        Console.WriteLine(ReferenceEquals(again, self) + " " + again.FullName.Split(',')[0] + " " + AssemblyLoadContext.GetLoadContext(again).Name);
        MethodInfo next = again.GetType("Counter").GetMethod("Next");
        Console.WriteLine(Counter.Next() + " " + Counter.Next() + " " + next.Invoke(null, null));
        Console.WriteLine(again.GetType("Counter") == typeof(Counter));
        Console.WriteLine(own.Assemblies.Count() + " " + AssemblyLoadContext.All.Contains(own));
        var fromBytes = new AssemblyLoadContext(null);
        using (var stream = new MemoryStream(File.ReadAllBytes(self.Location)))
        {
            Assembly third = fromBytes.LoadFromStream(stream);
            Console.WriteLine(third.Location.Length + " " + third.GetType("Counter").GetMethod("Next").Invoke(null, null));
        }
        own.Resolving += (context, name) => { Console.WriteLine("resolving " + name.Name); return null; };
        try { own.LoadFromAssemblyName(new AssemblyName("Not.There")); } catch (FileNotFoundException e) { Console.WriteLine(e.GetType().Name); }
        using (own.EnterContextualReflection()) Console.WriteLine(AssemblyLoadContext.CurrentContextualReflectionContext.Name);
        Console.WriteLine(AssemblyLoadContext.CurrentContextualReflectionContext == null);
        Console.WriteLine(Assembly.Load("System.Runtime").GetName().Name + " " + (Assembly.GetExecutingAssembly() == self));
        Console.WriteLine(AssemblyLoadContext.GetAssemblyName(self.Location).Name);
    }
}
