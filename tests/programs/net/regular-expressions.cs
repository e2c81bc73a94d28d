// Regular expressions interpreted, compiled and without backtracking.
using System;
using System.Linq;
using System.Text.RegularExpressions;

foreach (var options in new[] { RegexOptions.None, RegexOptions.Compiled, RegexOptions.NonBacktracking })
{
    Console.WriteLine(options);
    var date = new Regex(@"(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)", options);
    var m = date.Match("from 2024-02-29 to 2025-03-01");
    Console.WriteLine($"{m.Success} {m.Index} {m.Groups["year"].Value} {m.Groups["month"].ValueSpan.ToString()} {m.NextMatch().Value}");
    Console.WriteLine(date.Replace("on 2024-02-29", "${day}.${month}.${year}"));
    Console.WriteLine(string.Join("|", Regex.Split("a, b;c  d", @"[,;\s]+", options)));
    Console.WriteLine(Regex.Count("banana", "an", options) + " " + Regex.IsMatch("HELLO", "^h.*o$", options | RegexOptions.IgnoreCase));
    Console.WriteLine(string.Join(" ", Regex.Matches("the cat sat on the mat", @"\b\w*at\b", options).Select(x => x.Value + "@" + x.Index)));
    Console.WriteLine(Regex.Replace("x1y22z333", @"\d+", x => $"<{x.Length}>", options));
    foreach (ValueMatch v in Regex.EnumerateMatches("aXbXc", "X", options)) Console.Write(v.Index + " ");
    Console.WriteLine(Regex.Match("line1\nline2", "^line2$", options | RegexOptions.Multiline).Index);
}
Console.WriteLine(Regex.Match("abcabc", @"(\w+)\1").Groups[1].Value + " " + Regex.IsMatch("foobar", "foo(?!baz)") + " " + Regex.Escape("a.b*c"));
try { Regex.Match(new string('a', 30) + "!", "^(a+)+$", RegexOptions.None, TimeSpan.FromMilliseconds(20)); }
catch (RegexMatchTimeoutException e) { Console.WriteLine(e.Pattern); }
try { new Regex("(unclosed"); } catch (RegexParseException e) { Console.WriteLine(e.Error + " " + e.Offset); }
