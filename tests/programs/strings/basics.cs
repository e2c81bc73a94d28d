// String operations that do not depend on culture.
using System;
using System.Text;

static class Program
{
    static void Main()
    {
        string s = "The quick brown fox";
        Console.WriteLine("{0} {1} {2}", s.Length, s[4], s.Substring(4, 5));
        Console.WriteLine("{0} {1} {2} {3}", s.IndexOf('q'), s.IndexOf("fox", StringComparison.Ordinal), s.IndexOf('z'), s.LastIndexOf('o'));
        Console.WriteLine("{0} {1} {2}", s.StartsWith("The", StringComparison.Ordinal), s.EndsWith("fox", StringComparison.Ordinal), s.Contains("brown"));
        Console.WriteLine("{0} | {1}", s.Replace("quick", "slow"), s.Replace('o', '0'));
        Console.WriteLine("{0} | {1}", s.Insert(4, "very "), s.Remove(3, 6));
        Console.WriteLine("{0} | {1}", s.ToUpperInvariant(), s.ToLowerInvariant());
        Console.WriteLine("[{0}] [{1}] [{2}]", "  x ".Trim(), "  x ".TrimStart(), "xxaxx".Trim('x'));
        Console.WriteLine("[{0}] [{1}]", "7".PadLeft(3, '0'), "ab".PadRight(5) + "|");
        Console.WriteLine(string.Join("|", "a,b,,c".Split(',')));
        Console.WriteLine(string.Join("|", "a,b,,c".Split(new[] { ',' }, StringSplitOptions.RemoveEmptyEntries)));
        Console.WriteLine(string.Join("|", "a--b-c".Split(new[] { "--", "-" }, StringSplitOptions.None)));
        Console.WriteLine(string.Join("|", "a b c d".Split(new[] { ' ' }, 2)));
        Console.WriteLine(string.Concat("a", 1, 'c', null, 2L, true));
        Console.WriteLine(new string('=', 10) + new string(new[] { 'x', 'y', 'z' }, 1, 2));
        char[] chars = s.ToCharArray();
        Array.Reverse(chars);
        Console.WriteLine(new string(chars));
        Console.WriteLine("{0} {1} {2}", string.IsNullOrEmpty(""), string.IsNullOrWhiteSpace(" \t"), string.Empty.Length);
        Console.WriteLine("{0} {1} {2}", string.CompareOrdinal("a", "b") < 0, string.CompareOrdinal("B", "a") < 0, "a".CompareTo("a"));
        Console.WriteLine("{0} {1}", "abc" == "ab" + "c".ToString(), ReferenceEquals("abc", "abc"));
        Console.WriteLine("{0} {1}", "abc".Equals("ABC", StringComparison.OrdinalIgnoreCase), "abc".Equals(null));
        Console.WriteLine(ReferenceEquals(string.Intern(new StringBuilder("li").Append("ve").ToString()), "live"));
        Console.WriteLine(string.IsInterned(new StringBuilder("never ").Append("seen").ToString()) == null);
        object o = "abc";
        Console.WriteLine("{0} {1}", o is string, o.Equals("abc"));
        Console.WriteLine("tab\tquote\"back\\slash \u0041 \x42 {{braces}}");
        Console.WriteLine(@"verbatim ""quoted"" \n");
        string nothing = null;
        Console.WriteLine("[" + nothing + "]" + (nothing + "x").Length);
        int total = 0;
        foreach (char c in s)
            total += c;
        Console.WriteLine(total);
        Console.WriteLine("{0} {1} {2}", char.IsDigit('5'), char.IsLetter('é'), char.IsUpper('Q'));
        try
        {
            Console.WriteLine(s[100]);
        }
        catch (IndexOutOfRangeException)
        {
            Console.WriteLine("index");
        }
        try
        {
            s.Substring(10, 100);
        }
        catch (ArgumentOutOfRangeException e)
        {
            Console.WriteLine(e.ParamName);
        }
        try
        {
            Console.WriteLine(nothing.Length);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("null");
        }
    }
}
