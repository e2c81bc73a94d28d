// Sorting and comparing: ordinal by code unit, invariant culture by letter first and case last.
using System;
using System.Collections.Generic;

static class Program
{
    static void Main()
    {
        string[] words = { "banana", "Apple", "apple", "cherry", "Banana", "_x", "10", "9", "" };
        Array.Sort(words, StringComparer.Ordinal);
        Console.WriteLine(string.Join(" ", words));
        Array.Sort(words, StringComparer.OrdinalIgnoreCase);
        Console.WriteLine(string.Join(" ", words).ToLowerInvariant());
        Array.Sort(words, StringComparer.InvariantCulture);
        Console.WriteLine(string.Join(" ", words));
        Console.WriteLine("{0} {1}", string.Compare("a", "B", StringComparison.InvariantCulture) < 0, string.Compare("a", "B", StringComparison.Ordinal) < 0);
        Console.WriteLine("{0} {1}", string.Compare("A", "a", StringComparison.InvariantCultureIgnoreCase), string.Compare("A", "a", StringComparison.OrdinalIgnoreCase));
        Console.WriteLine("{0} {1}", "Straße".IndexOf("SSE", StringComparison.OrdinalIgnoreCase), "HELLO".IndexOf("ll", StringComparison.OrdinalIgnoreCase));
        Dictionary<string, int> table = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase);
        table["Key"] = 1;
        table["KEY"] = 2;
        Console.WriteLine("{0} {1}", table.Count, table["key"]);
        Console.WriteLine("{0} {1}", "abc".GetHashCode() == ("ab" + 'c').GetHashCode(), StringComparer.OrdinalIgnoreCase.GetHashCode("ABC") == StringComparer.OrdinalIgnoreCase.GetHashCode("abc"));
        Console.WriteLine("{0} {1} {2}", string.CompareOrdinal("abc", 1, "xbc", 1, 2), string.CompareOrdinal("a", null) > 0, string.CompareOrdinal(null, null));
    }
}
