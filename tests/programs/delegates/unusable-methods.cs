// Delegates whose method cannot run: without a function, and of a type that is not fully instantiated.
using System;
using System.Reflection;

class Open<T, U> { public static void Nothing() { } }
class Half<T> : Open<string, T> { public static void Less() { } }

class Program
{
    static void Try(string what, Action action)
    {
        try { action(); Console.WriteLine(what + ": done"); }
        catch (Exception e)
        {
            while (e is TargetInvocationException) e = e.InnerException;
            Console.WriteLine("{0}: {1}", what, e.GetType().Name);
        }
    }

    static void Main()
    {
        var ctor = typeof(Action).GetConstructor(new[] { typeof(object), typeof(IntPtr) });
        Try("no function", () => ctor.Invoke(new object[] { "target", IntPtr.Zero }));
        foreach (var method in new[] { typeof(Open<,>).GetMethod("Nothing"), typeof(Half<>).GetMethod("Less"), typeof(Half<int>).GetMethod("Less") })
        {
            // Made or called: .NET refuses to make it.
            Try(method.DeclaringType.ToString(), () => ((Action)Delegate.CreateDelegate(typeof(Action), null, method, true))());
        }
    }
}
