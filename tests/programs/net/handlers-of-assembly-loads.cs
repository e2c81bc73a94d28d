// Handlers of AssemblyLoad may use what the assembly is loaded for, and load more, which calls them again.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Child : Library.Parent { }

static class Program
{
    static readonly List<string> names = new();

    static void Main()
    {
        names.Add(typeof(Console).Name);
        AppDomain.CurrentDomain.AssemblyLoad += Loaded;
        Uses();
        Finds("System.Console");
        Finds("System.Collections");
        Finds("handlers-of-assembly-loads.lib");
    }

    // The first use of the console loads more assemblies, for each of which the console is used.
    static void Loaded(object sender, AssemblyLoadEventArgs e)
    {
        string name = e.LoadedAssembly.GetName().Name;
        names.Add(name);
        if (name.EndsWith(".lib")) Console.WriteLine("library: " + Reads());
        else Console.Out.Flush();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Uses() => Console.WriteLine(typeof(Child).BaseType.Name);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Finds(string name) => Console.WriteLine(name + " " + names.FindAll(other => other == name).Count);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Reads() => string.Join(",", new Library.Parent().Numbers);
}
