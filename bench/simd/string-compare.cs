// Strings that are compared: equal ones of several lengths, ordinal order, prefixes, and as keys.
using System;
using System.Collections.Generic;

static class StringCompare
{
    static void Main()
    {
        var words = new string[1000];
        var copies = new string[1000];
        for (int i = 0; i < words.Length; i++)
        {
            words[i] = new string('x', i % 40) + "/" + i + "/name";
            copies[i] = new string(words[i].ToCharArray());
        }
        var text = new string('a', 5000) + "b";
        var same = new string(text.ToCharArray());
        var numbers = new Dictionary<string, int>();
        for (int i = 0; i < words.Length; i++)
            numbers[words[i]] = i;
        long total = 0;
        for (int round = 0; round < 6000; round++)
        {
            for (int i = 0; i < words.Length; i++)
            {
                if (words[i] == copies[i])
                    total++;
                if (string.CompareOrdinal(words[i], copies[(i + 40) % 1000]) < 0)
                    total++;
                if (copies[i].StartsWith(words[i], StringComparison.Ordinal))
                    total++;
            }
            for (int i = round & 3; i < words.Length; i += 4)
                total += numbers[copies[i]];
            for (int i = 0; i < 50; i++)
                if (text == same && string.Equals(text, same, StringComparison.Ordinal))
                    total++;
        }
        Console.WriteLine(total);
    }
}
