// Enums: names, flags, parsing, arithmetic, underlying types, switch, boxing.
using System;
using System.Collections.Generic;

enum Colour { Red, Green = 5, Blue }
[Flags] enum Access { None = 0, Read = 1, Write = 2, Execute = 4, All = 7 }
enum Tiny : sbyte { Minus = -1, Zero }
enum Big : ulong { Top = 0x8000000000000000 }

static class Program
{
    static string Switch(Colour c)
    {
        switch (c)
        {
            case Colour.Red: return "r";
            case Colour.Green: return "g";
            case Colour.Blue: return "b";
            default: return "?" + (int)c;
        }
    }

    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", Colour.Blue, (int)Colour.Blue, (Colour)99);
        Console.WriteLine("{0} | {1} | {2} | {3}", Access.Read | Access.Write, (Access)7, (Access)8, Access.None);
        Console.WriteLine("{0} {1} {2}", Colour.Green.ToString("D"), Colour.Green.ToString("X"), (Access.Read | Access.Execute).ToString("F"));
        Console.WriteLine("{0} {1:x}", (int)Tiny.Minus, (ulong)Big.Top);
        Console.WriteLine(string.Join(" ", Enum.GetNames(typeof(Colour))));
        foreach (Colour c in Enum.GetValues(typeof(Colour)))
            Console.Write("{0}={1} ", c, Switch(c));
        Console.WriteLine(Switch((Colour)3));
        Console.WriteLine("{0} {1}", Enum.Parse(typeof(Access), "Read, Write"), Enum.Parse(typeof(Colour), "5"));
        Colour parsed;
        Console.WriteLine("{0} {1}", Enum.TryParse("blue", true, out parsed), parsed);
        Console.WriteLine("{0} {1}", Enum.TryParse("mauve", out parsed), parsed);
        Console.WriteLine("{0} {1} {2}", Enum.IsDefined(typeof(Colour), 5), Enum.IsDefined(typeof(Colour), 4), Enum.IsDefined(typeof(Colour), "Red"));
        Console.WriteLine("{0} {1}", Enum.GetUnderlyingType(typeof(Tiny)), Enum.GetName(typeof(Colour), 6));
        Console.WriteLine("{0} {1}", Access.All.HasFlag(Access.Write), Access.Read.HasFlag(Access.Write));
        Console.WriteLine("{0} {1} {2}", Colour.Red + 5, Colour.Blue - Colour.Green, Colour.Red < Colour.Blue);
        Console.WriteLine("{0} {1}", ~Access.Read & Access.All, Access.All ^ Access.Write);
        object boxed = Colour.Green;
        Console.WriteLine("{0} {1} {2}", boxed.Equals(Colour.Green), boxed.Equals(5), boxed.GetHashCode() == Colour.Green.GetHashCode());
        Console.WriteLine("{0} {1}", Enum.ToObject(typeof(Colour), 6), Colour.Red.CompareTo(Colour.Blue));
        Dictionary<Colour, string> table = new Dictionary<Colour, string> { { Colour.Red, "rot" }, { Colour.Blue, "blau" } };
        Console.WriteLine("{0} {1}", table[Colour.Blue], table.ContainsKey(Colour.Green));
        Console.WriteLine("{0} {1}", Convert.ToInt32(Colour.Blue), ((IConvertible)Colour.Blue).GetTypeCode());
        try
        {
            Enum.Parse(typeof(Colour), "nothing");
        }
        catch (ArgumentException)
        {
            Console.WriteLine("ArgumentException");
        }
        int n = 0;
        for (Colour c = Colour.Red; c <= Colour.Blue; c++)
            n++;
        Console.WriteLine(n);
    }
}
