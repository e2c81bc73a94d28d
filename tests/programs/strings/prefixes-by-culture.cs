// net: skip .NET has the tables of ICU
// Prefixes by the order of cultures: letters sorted as one, marks, characters that count for nothing.
using System;
using System.Globalization;
using System.Text;
using System.Threading;

static class PrefixesByCulture
{
    static readonly string[] Cultures = { "", "en-US", "cs-CZ", "hu-HU", "hr-HR", "da-DK", "sk-SK", "tr-TR", "fr-FR" };

    static readonly string[] Prefixes =
    {
        "", "/", "/a", "/a/", "a", "c", "ch", "d", "dz", "n", "l", "a-", "-", "'", "\0", "a\0", "\u00ad", "e", "\u00e9", "HTTP/", "x y", "I", "i", "ss", "\u00df",
        "co", "c/", "1", "1.", "\u0301",
    };

    static readonly string[] Texts =
    {
        "", "/", "/a", "/a/b", "/ab", "/A/b", "a", "aa", "ab", "a-b", "-a", "'a", "\0a", "a\0b", "a\u00adb", "c", "ch", "chl", "cs", "d", "dz", "dzs", "nj", "ny", "lj", "ll", "co-op",
        "e", "e\u0301", "\u00e9a", "e/", "e/\u0338", "HTTP/1.1", "HTTP/", "HTTPS", "x y z", "I", "\u0130", "\u0131", "ssa", "\u00dfa", "c/h", "c/\u0301", "1", "1.1", "10", "\u0301a",
    };

    static void Show(string culture, string name, Func<string, string, bool> isPrefix)
    {
        var line = new StringBuilder();
        foreach (string prefix in Prefixes)
        {
            long found = 0;
            for (int i = 0; i < Texts.Length; i++)
                if (isPrefix(Texts[i], prefix))
                    found |= 1L << i;
            line.Append(' ').Append(found.ToString("x", CultureInfo.InvariantCulture));
        }
        Console.WriteLine("{0} {1}:{2}", culture.Length == 0 ? "invariant" : culture, name, line);
    }

    static void Main()
    {
        foreach (string name in Cultures)
        {
            CultureInfo culture = CultureInfo.GetCultureInfo(name);
            Thread.CurrentThread.CurrentCulture = culture;
            Show(name, "StartsWith", (text, prefix) => text.StartsWith(prefix));
            Show(name, "without case", (text, prefix) => text.StartsWith(prefix, StringComparison.CurrentCultureIgnoreCase));
            foreach (CompareOptions options in new[] { CompareOptions.IgnoreSymbols, CompareOptions.IgnoreNonSpace })
                Show(name, options.ToString(), (text, prefix) => culture.CompareInfo.IsPrefix(text, prefix, options));
        }

        string longest = new string('/', 10000);
        Console.WriteLine("{0} {1}", longest.StartsWith(longest), longest.StartsWith(longest + "/"));
        try
        {
            CultureInfo.InvariantCulture.CompareInfo.IsPrefix("a", "a", (CompareOptions)0x40000000 | CompareOptions.StringSort);
        }
        catch (ArgumentException e)
        {
            Console.WriteLine(e.ParamName);
        }
        try
        {
            "a".StartsWith(null);
        }
        catch (ArgumentNullException e)
        {
            Console.WriteLine(e.ParamName);
        }
    }
}
