// Collectible load contexts: what they say of themselves, who may refer to them, and that unloading gives everything back.
// csc: -resource:collectible-contexts.lib.cs,words
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Resources;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

static class Test
{
    static readonly string Library = Path.Combine(AppContext.BaseDirectory, "collectible-contexts.lib.dll");
    static int unloading, sum;

    static void Collect(Func<bool> isDone)
    {
        for (int i = 0; i < 20 && !isDone(); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Facts()
    {
        var context = new AssemblyLoadContext("facts", isCollectible: true);
        Assembly library = context.LoadFromAssemblyPath(Library);
        Type value = library.GetType("Plugin.Value"), entry = library.GetType("Plugin.Entry");
        Console.WriteLine(context.IsCollectible + " " + library.IsCollectible + " " + value.IsCollectible + " " + entry.GetMethod("Run").IsCollectible);
        Console.WriteLine(typeof(List<>).MakeGenericType(value).IsCollectible + " " + value.MakeArrayType().IsCollectible + " " + typeof(List<int>).IsCollectible);
        Console.WriteLine(ReferenceEquals(AssemblyLoadContext.GetLoadContext(library), context) + " " + context.Assemblies.Single().GetName().Name);
        object made = Activator.CreateInstance(value);
        Console.WriteLine(value.GetField("Number").GetValue(made) + " " + made);
        using (Stream stream = context.LoadFromAssemblyPath(typeof(Test).Assembly.Location).GetManifestResourceStream("words"))
            Console.WriteLine(new StreamReader(stream).ReadToEnd().Contains("namespace Plugin"));
        Console.WriteLine(value.GetCustomAttributesData().Count + " " + value.GetCustomAttribute<System.ComponentModel.DescriptionAttribute>().Description);
        var list = (System.Collections.IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(value));
        list.Add(made);
        Console.WriteLine(list.Count + " " + list.GetType().GetGenericArguments()[0].Name);

        given = library;
        try { new Giving().LoadFromAssemblyName(library.GetName()); } catch (FileLoadException e) { Console.WriteLine(e.Message.EndsWith("Operation is not supported. (0x80131515)")); }
        given = null;

        context.Unloading += c => Console.WriteLine("unloading " + c.Name);
        context.Unload();
        context.Unload();
        try { context.LoadFromAssemblyPath(Library); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
        Console.WriteLine(entry.GetMethod("Run").Invoke(null, new object[] { 1 }));
        try { new AssemblyLoadContext("stays").Unload(); } catch (InvalidOperationException e) { Console.WriteLine(e.Message); }
    }

    static Assembly given;

    /// A context that is not collectible, and would refer to one that is.
    class Giving : AssemblyLoadContext
    {
        protected override Assembly Load(AssemblyName name) => given;
    }

    /// A context that is alive as long as an object of it is, although nobody refers to the context.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object KeepObject(out WeakReference reference)
    {
        var context = new AssemblyLoadContext("kept", isCollectible: true);
        reference = new WeakReference(context, trackResurrection: true);
        object made = Activator.CreateInstance(context.LoadFromAssemblyPath(Library).GetType("Plugin.Value"));
        context.Unload();
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool UsesKept()
    {
        object made = KeepObject(out WeakReference reference);
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        bool isAlive = reference.IsAlive && made.ToString() == "value 7";
        GC.KeepAlive(made);
        return isAlive;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Load(int number)
    {
        var context = new AssemblyLoadContext("number " + number, isCollectible: true);
        Assembly library;
        if (number % 2 == 0)
            library = context.LoadFromAssemblyPath(Library);
        else
            using (Stream stream = File.OpenRead(Library))
                library = context.LoadFromStream(stream);
        sum += library.GetType("Plugin.Entry").GetMethod("Run").CreateDelegate<Func<int, int>>()(number);
        context.Unloading += _ => Interlocked.Increment(ref unloading);
        if (number % 3 != 0)
            context.Unload();
        return new WeakReference(context, trackResurrection: true);
    }

    static long ResidentMegabytes() => long.Parse(File.ReadAllText("/proc/self/statm").Split(' ')[1]) * 4096 >> 20;

    static void Main()
    {
        Facts();
        Console.WriteLine(UsesKept());
        const int warm = 100, all = 300;
        var contexts = new List<WeakReference>();
        long before = 0;
        for (int i = 0; i < all; i++)
        {
            contexts.Add(Load(i));
            if (i % 10 == 9)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            if (i == warm)
                before = ResidentMegabytes();
        }
        // Stale words of stacks may keep some.
        Collect(() => contexts.Count(c => c.IsAlive) == 0);
        int alive = contexts.Count(c => c.IsAlive);
        Console.WriteLine(alive <= 5 ? "contexts die" : alive + " contexts are alive");
        Console.WriteLine(sum + " " + (unloading >= all - 5));
        // Each library has 1 MiB of data that its code touches.
        long grown = ResidentMegabytes() - before;
        Console.WriteLine(grown < 100 ? "memory is given back" : "grown by " + grown + " MiB");
    }
}
