// Generic parameters promise what their constraints implement; names of types made of them; arrays and arguments that do not fit.
// mcs: -unsafe
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

class Constrained<T, U>
    where T : class, IComparable<T>
    where U : List<T>
{
    public void Method<V>() where V : T, IDisposable { }
}

static class Program
{
    static string Try(Func<object> get)
    {
        try { return Convert.ToString(get()); }
        catch (Exception e) { return e.GetType().Name; }
    }

    static unsafe void Main()
    {
        Type[] parameters = typeof(Constrained<,>).GetGenericArguments();
        Console.WriteLine(string.Join(", ", parameters[0].GetInterfaces().Select(i => i.ToString())));
        Console.WriteLine(parameters[1].GetInterfaces().Contains(typeof(System.Collections.IList)));
        Type v = typeof(Constrained<,>).GetMethod("Method").GetGenericArguments()[0];
        Console.WriteLine(string.Join(", ", v.GetInterfaces().Where(i => i != parameters[0]).Select(i => i.ToString())));

        Console.WriteLine(parameters[0].MakeByRefType().FullName == null);
        Console.WriteLine(typeof(int**).Namespace);
        Console.WriteLine(typeof(int*[]).Namespace);
        Console.WriteLine(Try(() => typeof(int).MakeArrayType(32)).Length);
        Console.WriteLine(Try(() => typeof(int).MakeArrayType(33)));
        Console.WriteLine(Try(() => Type.GetType("System.Collections.Generic.List`1[System.Int32,System.Int32]", true)));
        Console.WriteLine(Try(() => Type.GetType("System.Collections.Generic.List`1[System.Int32,System.Int32]", false)) == "");

        var frame = new StackFrame("file.cs", 10, 5);
        Console.WriteLine("{0} {1} {2}", frame.GetFileName(), frame.GetFileLineNumber(), frame.GetFileColumnNumber());
        Console.WriteLine(new StackFrame(1000).GetMethod() == null);
    }
}
