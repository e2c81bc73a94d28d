// Strings made of others: concatenation, parts, joining, a StringBuilder, letters changed.
using System;
using System.Text;

static class StringBuilding
{
    static void Main()
    {
        var words = new[] { "alpha", "beta", "gamma", "delta", "epsilon, which is longer than all the others", "z" };
        var line = string.Join(" ", words);
        var builder = new StringBuilder();
        long total = 0;
        for (int round = 0; round < 700000; round++)
        {
            string a = words[round % 6];
            string b = words[(round + 1) % 6];
            total += (a + b).Length;
            total += string.Concat(a, "/", b).Length;
            total += line.Substring(round % 20, 30).Length;
            total += string.Join(",", words).Length;
            builder.Clear();
            for (int i = 0; i < 6; i++)
                builder.Append(words[i]).Append(' ');
            total += builder.ToString().Length;
            if (round % 4 == 0)
            {
                total += line.ToUpperInvariant()[3];
                total += line.Insert(5, a).Length;
                total += line.Remove(3, 10).Length;
            }
        }
        Console.WriteLine(total);
    }
}
