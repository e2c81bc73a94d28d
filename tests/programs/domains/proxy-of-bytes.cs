// A proxy's class that the program has loaded from memory is the other domain's class of the file.
using System;
using System.IO;
using System.Reflection;

static class Program
{
    static void Call(AppDomain domain, string assembly)
    {
        Greeter greeter = (Greeter)domain.CreateInstanceAndUnwrap(assembly, "Greeter");
        Console.WriteLine(greeter.Greet("bytes"));
        Console.WriteLine(greeter.Next(new Message { Text = "first" }).Text);
        // The way back: an object of the first domain.
        Console.WriteLine(greeter.Ask(new Greeter()));
    }

    static void Main()
    {
        string file = Path.Combine(AppDomain.CurrentDomain.BaseDirectory, "proxy-of-bytes.lib.dll");
        Assembly assembly = Assembly.Load(File.ReadAllBytes(file));
        Console.WriteLine(assembly.Location == "");
        AppDomain domain = AppDomain.CreateDomain("other");
        Call(domain, assembly.FullName);
        AppDomain.Unload(domain);
    }
}
