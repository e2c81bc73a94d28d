// Looking for characters and words in text.
using System;

static class StringSearch
{
    static void Main()
    {
        var line = "The quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs, said she: 42.";
        var text = string.Concat(line, " ", line.ToUpperInvariant(), " ", line, " needle in a haystack of 1,000 straws");
        var separators = new[] { ';', ':', '!' };
        long total = 0;
        for (int round = 0; round < 400000; round++)
        {
            int start = round % 50;
            total += text.IndexOf('z', start);
            total += text.IndexOf('#', start);
            total += text.LastIndexOf('T', text.Length - 1 - start);
            total += text.IndexOf("needle", start, StringComparison.Ordinal);
            total += text.IndexOfAny(separators, start);
            total += text.Contains("haystack") ? 1 : 0;
            if (round % 10 == 0)
            {
                total += text.Split(' ').Length;
                total += text.Replace('o', '0').Length;
                total += text.Replace("fox", "cat").Length;
                total += text.Trim('T', '5').Length;
            }
        }
        Console.WriteLine(total);
    }
}
