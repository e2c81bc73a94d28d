// Regular expressions, interpreted and compiled: matching, groups, replacing, splitting.
using System;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

static class Expressions {
    static void Main ()
    {
        var text = new StringBuilder ();
        var random = new Random (3);
        string[] words = { "alpha", "Beta", "gamma42", "user@example.org", "2009-03-07", "http://host.net/path?q=1", "(555) 123-4567", "12.50" };
        for (int i = 0; i < 20000; i++)
            text.Append (words[random.Next (words.Length)]).Append (i % 9 == 8 ? "\n" : " ");
        string input = text.ToString ();
        foreach (var options in new[] { RegexOptions.None, RegexOptions.Compiled }) {
            Count (options, @"\b[\w.]+@[\w.]+\.\w+\b", input);
            Count (options, @"(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)", input);
            Count (options, @"^(\w+)\s.*\s(\S+)$", input, RegexOptions.Multiline);
            Count (options, @"https?://([^/\s]+)(/[^?\s]*)?(\?\S*)?", input);
            Count (options, "alpha|beta|gamma", input, RegexOptions.IgnoreCase);
            string replaced = new Regex (@"(\d+)-(\d+)", options).Replace (input, "$2/$1");
            string evaluated = new Regex (@"\b[a-z]\w*", options).Replace (input, m => m.Value.ToUpperInvariant ());
            Console.WriteLine ("{0} {1} {2} {3}", options, replaced.Length, evaluated.Count (Char.IsUpper), new Regex (@"\s+", options).Split (input).Length);
        }
        var check = new Regex (@"^[A-Za-z_][A-Za-z0-9_]*$");
        int valid = 0;
        for (int i = 0; i < 300000; i++)
            if (check.IsMatch (words[i % words.Length]))
                valid++;
        Console.WriteLine ("identifiers {0}", valid);
    }

    static void Count (RegexOptions options, string pattern, string input, RegexOptions more = RegexOptions.None)
    {
        var regex = new Regex (pattern, options | more);
        int matches = 0, length = 0;
        for (int round = 0; round < 2; round++)
            foreach (Match m in regex.Matches (input)) {
                matches++;
                length += m.Groups[m.Groups.Count - 1].Length;
            }
        Console.WriteLine ("{0} {1} {2} {3}", options, pattern, matches, length);
    }
}
