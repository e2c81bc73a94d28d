// Text compared, looked for and used as keys without regard to case.
using System;
using System.Collections.Generic;

static class TextWithoutCase
{
    static void Main()
    {
        var words = new string[1000];
        var others = new string[1000];
        var numbers = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase);
        for (int i = 0; i < words.Length; i++)
        {
            words[i] = "Content-Type-" + new string('x', i % 40) + "/" + i;
            others[i] = words[i].ToUpperInvariant();
            numbers[words[i]] = i;
        }
        var text = "The quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs, said she: 42. A needle in a haystack of 1,000 straws";
        long total = 0;
        for (int round = 0; round < 2000; round++)
        {
            for (int i = 0; i < words.Length; i++)
            {
                if (string.Equals(words[i], others[i], StringComparison.OrdinalIgnoreCase))
                    total++;
                if (string.Compare(words[i], others[(i + 40) % 1000], StringComparison.OrdinalIgnoreCase) < 0)
                    total++;
                if (others[i].StartsWith("content-type", StringComparison.OrdinalIgnoreCase))
                    total++;
            }
            for (int i = round & 3; i < words.Length; i += 4)
                total += numbers[others[i]];
            for (int i = 0; i < 200; i++)
                total += text.IndexOf("NEEDLE", i % 50, StringComparison.OrdinalIgnoreCase);
        }
        Console.WriteLine(total);
    }
}
