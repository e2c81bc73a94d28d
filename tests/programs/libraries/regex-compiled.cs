// Regular expressions compiled to code: captures, backtracking, classes, look-around, replacement.
using System;
using System.Text.RegularExpressions;

static class Program
{
    static void Show(string pattern, string text, RegexOptions options)
    {
        Regex compiled = new Regex(pattern, options | RegexOptions.Compiled);
        foreach (Match match in compiled.Matches(text))
        {
            Console.Write("[{0}@{1}", match.Value, match.Index);
            for (int i = 1; i < match.Groups.Count; i++)
                Console.Write(" {0}={1}", compiled.GroupNameFromNumber(i), match.Groups[i].Value);
            Console.Write("]");
        }
        Console.WriteLine();
    }

    static void Main()
    {
        Show(@"(\w+)\s+\1", "the the cat sat sat down", RegexOptions.None);
        Show(@"(?<key>\w+)=(?<value>[^;]*);?", "a=1;bb=two;c=", RegexOptions.None);
        Show(@"^\s*#(.*)$", "x\n # one\n#two\ny", RegexOptions.Multiline);
        Show(@"(?<=\$)\d+(?!\d|\.)", "$12 $3.5 $400", RegexOptions.None);
        Show(@"((a+)+b|[c-e]{2,3}?)", "aaab cde aac", RegexOptions.IgnoreCase);
        Show(@"\p{Lu}\w*", "Hello wOrld Été", RegexOptions.RightToLeft);
        Show(@"(?>\d+)x|\((?:[^()]|(?<o>\()|(?<-o>\)))*\)", "12x (a(b)c)", RegexOptions.None);
        Console.WriteLine(new Regex(@"(\d+)", RegexOptions.Compiled).Replace("1 22 333", m => (int.Parse(m.Value) * 2).ToString()));
        Console.WriteLine(string.Join("|", new Regex(@"\s*,\s*", RegexOptions.Compiled).Split("a , b,c ,d")));
    }
}
