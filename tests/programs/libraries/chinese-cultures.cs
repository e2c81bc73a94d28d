// Cultures that share a number (zh-Hans and zh-CHS) keep their own names and parents.
using System;
using System.Globalization;

static class Program {
    static void Main ()
    {
        foreach (var name in new[] { "zh-Hans", "zh-CHS", "zh-Hant", "zh-CHT", "zh-HK", "zh-TW" }) {
            var culture = new CultureInfo (name);
            Console.WriteLine ("{0} {1} {2}", culture.Name, culture.Parent.Name, culture.EnglishName);
        }
        Console.WriteLine ("{0} {1}", new CultureInfo (4).Name, new CultureInfo (31748).Name);
    }
}
