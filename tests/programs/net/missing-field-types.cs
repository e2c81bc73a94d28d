// Types with fields of reference types that are not there: they are types like any other until code uses such a field. A class with a struct that is not
// there is none.
using System;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;

static class Program
{
    static void Try(string what, Func<object> code)
    {
        try
        {
            Console.WriteLine($"{what}: {code()}");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{what}: {e.GetType()}: {e.Message.Split('\n')[0]} {(e as FileNotFoundException)?.FileName}");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Store(Holder h)
    {
        Holder.Store(h);
        return "stored";
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object StoreShared()
    {
        Holder.StoreShared();
        return "stored";
    }

    static void Main()
    {
        var library = typeof(Holder).Assembly;
        try
        {
            library.GetTypes();
        }
        catch (ReflectionTypeLoadException e)
        {
            Console.WriteLine(string.Join(" ", e.Types.Select(t => t?.Name ?? "-")));
            foreach (var inner in e.LoaderExceptions) Console.WriteLine(inner.GetType() + " " + inner.Message.Split('\n')[0]);
        }
        for (int i = 0; i < 3; i++)
        {
            var h = new Below { Number = i, Text = "text " + i, Last = long.MaxValue - i };
            Holder.Name = "name " + i;
            GC.Collect();
            Console.WriteLine($"{h.Number} {h.Text} {h.Last} {Holder.Name}");
        }
        var pairs = new Pair[3];
        pairs[1].Number = 5;
        Console.WriteLine(string.Join(" ", pairs.Select(p => p.Number)) + " " + Unsafe.SizeOf<Pair>());
        var generic = new Generic<string> { Value = "value" };
        GC.Collect();
        Console.WriteLine(generic.Value + " " + new Generic<int> { Value = 7 }.Value);
        Try("field", () => typeof(Holder).GetField("Number").GetValue(new Below { Number = 9 }));
        Try("names", () => string.Join(" ", typeof(Pair).GetFields().Select(f => f.Name)));
        Try("field's type", () => typeof(Holder).GetField("Reference").FieldType);
        Try("store", () => Store(new Holder()));
        Try("store shared", StoreShared);
    }
}
