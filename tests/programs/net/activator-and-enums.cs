// Activator for all kinds of types; enums named, parsed, combined and listed.
using System;
using System.Collections.Generic;
using System.Linq;

enum Colour : byte { Red = 1, Green = 2, Blue = 200 }
[Flags] enum Rights { None = 0, Read = 1, Write = 2, All = Read | Write, Run = 8 }
enum Long : long { Least = long.MinValue, Most = long.MaxValue }
struct Plain { public int N; }
struct WithConstructor { public int N; public WithConstructor() => N = 7; }
class NoDefault(int n) { public int N => n; }
abstract class Abstract { }
class Throws { public Throws() => throw new InvalidOperationException("constructor"); }

static class Test
{
    static T Make<T>() where T : new() => new T();

    static void Tries(Func<object> code)
    {
        try { Console.WriteLine(code()); }
        catch (Exception e) { Console.WriteLine(e.GetType().Name + (e.InnerException != null ? " <- " + e.InnerException.Message : "")); }
    }

    static void Main()
    {
        Console.WriteLine(Make<Plain>().N + Make<WithConstructor>().N + " " + Activator.CreateInstance<WithConstructor>().N + " " + default(WithConstructor).N);
        Console.WriteLine(((NoDefault)Activator.CreateInstance(typeof(NoDefault), 5)).N + " " + Make<List<int>>().Count);
        Tries(() => Activator.CreateInstance(typeof(NoDefault)));
        Tries(() => Activator.CreateInstance(typeof(Abstract)));
        Tries(() => Activator.CreateInstance(typeof(List<>)));
        Tries(() => Activator.CreateInstance(typeof(Throws)));
        Tries(() => Make<Throws>());
        Tries(() => Activator.CreateInstance(typeof(int?)) ?? "null");
        Tries(() => Activator.CreateInstance(typeof(string), 'x', 3));
        Tries(() => Array.CreateInstance(typeof(Plain), 2, 3).GetLength(1));
        Console.WriteLine($"{Colour.Blue} {(Colour)3} {Colour.Red:D} {Colour.Blue:X} {Rights.All} {Rights.Read | Rights.Run} {(Rights)16} {Rights.None} {Long.Least}");
        Console.WriteLine(string.Join(" ", Enum.GetNames<Rights>()) + " " + string.Join(" ", Enum.GetValues<Colour>().Select(c => (int)c)));
        Console.WriteLine(Enum.Parse<Rights>("read, Run", true) + " " + Enum.TryParse("Purple", out Colour _) + " " + Enum.TryParse("200", out Colour blue) + blue);
        Console.WriteLine(Enum.IsDefined(Colour.Green) + " " + Enum.IsDefined((Colour)9) + " " + Enum.GetUnderlyingType(typeof(Long)) + " " + Enum.GetName(Colour.Red));
        Console.WriteLine(Rights.All.HasFlag(Rights.Write) + " " + Colour.Red.CompareTo(Colour.Blue) + " " + Colour.Red.Equals((object)Colour.Red) + " " + Colour.Red.GetHashCode());
        Console.WriteLine(Enum.ToObject(typeof(Colour), 2) + " " + Convert.ToInt32(Colour.Blue) + " " + Enum.Format(typeof(Rights), 3, "F"));
        Tries(() => Enum.Parse<Colour>("Nothing"));
        Console.WriteLine(new Dictionary<Colour, int> { [Colour.Red] = 4 }[Colour.Red] + " " + EqualityComparer<Long>.Default.Equals(Long.Least, Long.Most));
    }
}
