// The exceptions of code that names types and members that are not there, or that it must not use.
using System;
using System.IO;
using System.Reflection;

static class Program
{
    static void Main()
    {
        foreach (MethodInfo method in typeof(Missing).GetMethods(BindingFlags.Static | BindingFlags.Public | BindingFlags.DeclaredOnly))
        {
            try
            {
                method.Invoke(null, null);
                Console.WriteLine($"{method.Name}: nothing");
            }
            catch (TargetInvocationException e)
            {
                Exception inner = e.InnerException;
                Console.WriteLine($"{method.Name}: {inner.GetType()}: {inner.Message.Replace("\n", "|")} {inner.HResult:x}{More(inner)}");
            }
            catch (Exception e)
            {
                Console.WriteLine($"{method.Name}, not in it: {e.GetType()}: {e.Message.Replace("\n", "|")}");
            }
        }
    }

    static string More(Exception e) => e switch
    {
        FileNotFoundException file => $" [{file.FileName}]",
        FileLoadException file => $" [{file.FileName}]",
        TypeLoadException type => $" [{type.TypeName}]",
        _ => "",
    };
}
