// Comparisons and searches that ignore case, and words replaced, give what loops over characters give, for strings of 0 to 200 characters of ASCII and others.
using System;
using System.Collections.Generic;
using System.Text;

static class Program
{
    static readonly Random random = new Random(23);
    static int checks;

    static void Same(string what, object got, object wanted)
    {
        checks++;
        if (!Equals(got, wanted)) throw new Exception(what + ": " + got + " and not " + wanted);
    }

    // Letters in both cases, what lies beside them, and a few other characters, among them some with odd cases.
    const string Ascii = "aAbBzZ@[`{mM09 ";
    const string Others = "\u00e9\u00c9\u0131\u0130\u017f\u212a\u00b5\u03c3\u03c2\u4e00\ud800\udc00\uff41\u0080";

    static string Text(int length, int others)
    {
        var chars = new char[length];
        for (int i = 0; i < length; i++)
            chars[i] = random.Next(100) < others ? Others[random.Next(Others.Length)] : Ascii[random.Next(Ascii.Length)];
        return new string(chars);
    }

    static string InOtherCase(string text)
    {
        var chars = text.ToCharArray();
        for (int i = 0; i < chars.Length; i++)
            if (random.Next(2) == 0) chars[i] = random.Next(2) == 0 ? char.ToUpperInvariant(chars[i]) : chars[i];
            else if (chars[i] < 0x80) chars[i] = char.ToLowerInvariant(chars[i]);
        return new string(chars);
    }

    static int Order(string a, string b)
    {
        bool isAscii = true;
        for (int i = 0; i < a.Length && i < b.Length; i++)
        {
            char x = char.ToUpperInvariant(a[i]), y = char.ToUpperInvariant(b[i]);
            if (a[i] >= 0x80 || b[i] >= 0x80) isAscii = false;
            if (x != y) return x - y;
        }
        return isAscii ? a.Length - b.Length : Math.Sign(a.Length - b.Length);
    }

    static bool IsAt(string text, string word, int place)
    {
        for (int i = 0; i < word.Length; i++)
            if (char.ToUpperInvariant(text[place + i]) != char.ToUpperInvariant(word[i])) return false;
        return true;
    }

    static int First(string text, string word, int start, int count)
    {
        for (int i = start; i + word.Length <= start + count; i++)
            if (IsAt(text, word, i)) return i;
        return -1;
    }

    static int Last(string text, string word, int start, int count)
    {
        for (int i = start - word.Length + 1; i >= start - count + 1; i--)
            if (IsAt(text, word, i)) return i;
        return -1;
    }

    static string Replaced(string text, string old, string other)
    {
        var result = new StringBuilder();
        for (int i = 0; i < text.Length; )
            if (i + old.Length <= text.Length && string.CompareOrdinal(text, i, old, 0, old.Length) == 0) { result.Append(other); i += old.Length; }
            else result.Append(text[i++]);
        return result.ToString();
    }

    static void Comparisons(int length)
    {
        for (int round = 0; round < 24; round++)
        {
            string a = Text(length, round % 3 == 0 ? 10 : 0);
            string b = InOtherCase(a);
            if (round % 4 == 1) b += Text(random.Next(1, 20), 0);
            if (round % 4 > 1 && length > 0)
            {
                var chars = b.ToCharArray();
                chars[random.Next(length)] = Text(1, 20)[0];
                b = new string(chars);
            }
            string what = "'" + a + "' and '" + b + "'";
            int wanted = Order(a, b);
            Same(what, string.Compare(a, b, StringComparison.OrdinalIgnoreCase), wanted);
            Same(what + " the other way", Math.Sign(string.Compare(b, a, StringComparison.OrdinalIgnoreCase)), -Math.Sign(wanted));
            Same(what + " equal", string.Equals(a, b, StringComparison.OrdinalIgnoreCase), wanted == 0);
            Same(what + " prefix", b.StartsWith(a, StringComparison.OrdinalIgnoreCase), b.Length >= a.Length && IsAt(b, a, 0));
            Same(what + " suffix", b.EndsWith(a, StringComparison.OrdinalIgnoreCase), b.Length >= a.Length && IsAt(b, a, b.Length - a.Length));
            int from = random.Next(Math.Min(a.Length, b.Length) + 1), count = random.Next(40);
            Same(what + " part", string.Compare(a, from, b, from, count, StringComparison.OrdinalIgnoreCase),
                Order(a.Substring(from, Math.Min(count, a.Length - from)), b.Substring(from, Math.Min(count, b.Length - from))));
            if (wanted == 0)
                Same(what + " hash", StringComparer.OrdinalIgnoreCase.GetHashCode(a), StringComparer.OrdinalIgnoreCase.GetHashCode(b));
            var target = new char[a.Length];
            a.AsSpan().ToUpperInvariant(target);
            for (int i = 0; i < a.Length; i++)
                Same(what + " upper", target[i], char.ToUpperInvariant(a[i]));
            a.AsSpan().ToLowerInvariant(target);
            for (int i = 0; i < a.Length; i++)
                Same(what + " lower", target[i], char.ToLowerInvariant(a[i]));
        }
    }

    static void Searches(int length)
    {
        for (int round = 0; round < 24; round++)
        {
            string text = Text(length, round % 3 == 0 ? 10 : 0);
            string word = round % 4 != 0 && length > 0 ? text.Substring(random.Next(length)) : Text(random.Next(4), round % 5 == 0 ? 20 : 0);
            if (round % 2 == 0 && word.Length > 4) word = word.Substring(0, random.Next(1, 5));
            string other = InOtherCase(word);
            int start = random.Next(length + 1), count = random.Next(length - start + 1);
            string what = "'" + other + "' in '" + text + "' from " + start + ", " + count;
            Same(what, text.IndexOf(other, start, count, StringComparison.OrdinalIgnoreCase), First(text, other, start, count));
            Same(what + " exactly", text.IndexOf(word, start, count, StringComparison.Ordinal), FirstExact(text, word, start, count));
            if (count > 0 && word.Length > 0)
                Same(what + " last", text.LastIndexOf(other, start + count - 1, count, StringComparison.OrdinalIgnoreCase), Last(text, other, start + count - 1, count));
            if (word.Length > 0)
            {
                foreach (string by in new[] { "", null, "x", "two", word, word + word })
                    Same(what + " replaced by " + by, text.Replace(word, by), Replaced(text, word, by));
                Same(what + " not replaced", ReferenceEquals(text.Replace("\u0007\u0007", "a"), text), true);
            }
        }
    }

    static int FirstExact(string text, string word, int start, int count)
    {
        for (int i = start; i + word.Length <= start + count; i++)
            if (string.CompareOrdinal(text, i, word, 0, word.Length) == 0) return i;
        return -1;
    }

    static void Throws<T>(string what, Action action) where T : Exception
    {
        try { action(); }
        catch (T e) { Same(what, e.GetType(), typeof(T)); return; }
        throw new Exception(what + " throws nothing");
    }

    static void Main()
    {
        for (int c = 0; c < 0x10000; c++)
            if (char.ToUpperInvariant((char)c) < 0x80 != c < 0x80) throw new Exception("a letter of ASCII for " + c);
        for (int length = 0; length <= 200; length += length < 70 ? 1 : 13)
        {
            Comparisons(length);
            Searches(length);
        }
        string many = new string('a', 300000) + "b";
        Same("long", many.IndexOf("AAAB", StringComparison.OrdinalIgnoreCase), 299997);
        Same("long last", many.LastIndexOf("AAA", StringComparison.OrdinalIgnoreCase), 299997);
        Same("long order", string.Compare(many, many.ToUpperInvariant() + "c", StringComparison.OrdinalIgnoreCase), -1);
        Same("long replaced", many.Replace("aa", "c").Length, 150001);
        Same("empty", "aaaa".Replace("aa", ""), "");
        Throws<ArgumentNullException>("null", () => "a".Replace(null, "a"));
        Throws<ArgumentException>("empty word", () => "a".Replace("", "a"));
        Throws<ArgumentNullException>("no word", () => "a".IndexOf(null, StringComparison.OrdinalIgnoreCase));
        var keys = new Dictionary<string, int>(StringComparer.OrdinalIgnoreCase);
        for (int i = 0; i < 300; i++)
            keys["Key number " + i + (i % 7 == 0 ? "\u00e9" : "")] = i;
        int sum = 0;
        for (int i = 0; i < 300; i++)
            sum += keys["kEY NUMBER " + i + (i % 7 == 0 ? "\u00c9" : "")];
        Same("keys", sum, 300 * 299 / 2);
        Console.WriteLine("{0} checks", checks);
    }
}
