// Comparisons and searches give what loops over characters give: strings of 0 to 200 characters, with the difference or the word at every place, from every start.
using System;
using System.Collections.Generic;
using System.Globalization;

static class Program
{
    static readonly Random random = new Random(11);
    static int checks;

    static void Same(string what, int got, int wanted)
    {
        checks++;
        if (got != wanted) throw new Exception(what + ": " + got + " and not " + wanted);
    }

    static void Same(string what, bool got, bool wanted) { Same(what, got ? 1 : 0, wanted ? 1 : 0); }

    static string Text(int length, int letters)
    {
        var chars = new char[length];
        for (int i = 0; i < length; i++)
            chars[i] = (char)((random.Next(8) == 0 ? 0x4e00 : 'a') + random.Next(letters));
        return new string(chars);
    }

    static bool Equal(string a, string b)
    {
        if (a.Length != b.Length) return false;
        for (int i = 0; i < a.Length; i++)
            if (a[i] != b[i]) return false;
        return true;
    }

    static int Order(string a, string b)
    {
        for (int i = 0; i < a.Length && i < b.Length; i++)
            if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        return Math.Sign(a.Length - b.Length);
    }

    static bool IsAt(string text, string word, int place)
    {
        for (int i = 0; i < word.Length; i++)
            if (text[place + i] != word[i]) return false;
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

    static int FirstOf(string text, string wanted, int start, int count)
    {
        for (int i = start; i < start + count; i++)
            if (wanted.IndexOf(text[i].ToString(), StringComparison.Ordinal) >= 0) return i;
        return -1;
    }

    static void Comparisons(int length)
    {
        string a = Text(length, 26);
        string copy = new string(a.ToCharArray());
        Same("== " + length, a == copy, true);
        Same("order " + length, Math.Sign(string.CompareOrdinal(a, copy)), 0);
        for (int place = 0; place < length; place++)
        {
            var chars = a.ToCharArray();
            chars[place] = (char)(chars[place] ^ (random.Next(2) == 0 ? 1 : 0x100));
            string b = new string(chars);
            Same("== with a difference", a == b, Equal(a, b));
            Same("order with a difference", Math.Sign(string.CompareOrdinal(a, b)), Order(a, b));
            Same("span order", Math.Sign(a.AsSpan().SequenceCompareTo(b.AsSpan())), Order(a, b));
            Same("span ==", a.AsSpan().SequenceEqual(b.AsSpan()), Equal(a, b));
            Same("parts", Math.Sign(string.CompareOrdinal(a, place, b, place, 7)), Order(a.Substring(place, Math.Min(7, length - place)), b.Substring(place, Math.Min(7, length - place))));
            string head = a.Substring(0, place);
            Same("StartsWith", b.StartsWith(head, StringComparison.Ordinal), true);
            Same("StartsWith too much", b.StartsWith(a.Substring(0, place + 1), StringComparison.Ordinal), false);
            Same("EndsWith", a.EndsWith(a.Substring(place), StringComparison.Ordinal), true);
            Same("EndsWith too much", b.EndsWith(a.Substring(place), StringComparison.Ordinal), false);
            Same("order of a part", Math.Sign(string.CompareOrdinal(head, a)), -1);
        }
    }

    static void Same(string what, string got, string wanted)
    {
        Same(what, Equal(got, wanted), true);
    }

    static string Map(string text, Func<char, char> map)
    {
        var chars = text.ToCharArray();
        for (int i = 0; i < chars.Length; i++) chars[i] = map(chars[i]);
        return new string(chars);
    }

    static readonly CultureInfo turkish = new CultureInfo("tr-TR"), german = new CultureInfo("de-DE");

    static void Changes(int length)
    {
        string text = Text(length, 26);
        char old = length == 0 ? 'a' : text[random.Next(length)];
        Same("Replace", text.Replace(old, '#'), Map(text, c => c == old ? '#' : c));
        Same("Replace by itself", ReferenceEquals(text.Replace(old, old), text), true);
        Same("Replace nothing", ReferenceEquals(text.Replace('!', old), text), true);
        var ascii = new char[length];
        for (int i = 0; i < length; i++) ascii[i] = (char)random.Next(1, 128);
        string plain = new string(ascii);
        string upper = Map(plain, c => c >= 'a' && c <= 'z' ? (char)(c - 32) : c), lower = Map(plain, c => c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
        Same("ToUpperInvariant", plain.ToUpperInvariant(), upper);
        Same("ToLowerInvariant", plain.ToLowerInvariant(), lower);
        Same("German ToUpper", plain.ToUpper(german), upper);
        Same("German ToLower", plain.ToLower(german), lower);
        Same("Turkish ToUpper", plain.ToUpper(turkish), Map(plain, c => c == 'i' ? '\u0130' : c >= 'a' && c <= 'z' ? (char)(c - 32) : c));
        Same("Turkish ToLower", plain.ToLower(turkish), Map(plain, c => c == 'I' ? '\u0131' : c >= 'A' && c <= 'Z' ? (char)(c + 32) : c));
        Same("umlauts", (plain + "ä").ToUpperInvariant(), upper + "Ä");
        Same("umlauts in front", ("ÄÖ" + plain).ToLowerInvariant(), "äö" + lower);
    }

    static void Searches(int length)
    {
        string text = Text(length, 6);
        for (int round = 0; round < 40; round++)
        {
            int start = random.Next(length + 1);
            int count = random.Next(length - start + 1);
            string word = random.Next(3) == 0 || start == length ? Text(random.Next(1, 5), 6) : text.Substring(start, Math.Min(length - start, random.Next(1, 9)));
            char c = word[0], d = word[word.Length - 1], e = (char)('a' + random.Next(9));
            Same("IndexOf word", text.IndexOf(word, start, count, StringComparison.Ordinal), First(text, word, start, count));
            Same("Contains", text.Contains(word), First(text, word, 0, length) >= 0);
            Same("IndexOf char", text.IndexOf(c, start, count), First(text, c.ToString(), start, count));
            Same("IndexOfAny 2", text.IndexOfAny(new[] { c, e }, start, count), FirstOf(text, "" + c + e, start, count));
            Same("IndexOfAny 3", text.IndexOfAny(new[] { c, d, e }, start, count), FirstOf(text, "" + c + d + e, start, count));
            Same("IndexOfAny 5", text.IndexOfAny(new[] { c, d, e, '#', '%' }, start, count), FirstOf(text, "" + c + d + e, start, count));
            var many = new char[random.Next(4, 90)];
            for (int i = 0; i < many.Length; i++)
                many[i] = (char)(random.Next(5) == 0 ? 0x4e00 + random.Next(80) : random.Next('c', 0x180));
            Same("IndexOfAny many", text.IndexOfAny(many, start, count), FirstOf(text, new string(many), start, count));
            var span = text.AsSpan(start, count);
            Same("span IndexOf", span.IndexOf(c), First(text.Substring(start, count), c.ToString(), 0, count));
            Same("span IndexOf word", span.IndexOf(word.AsSpan()), First(text.Substring(start, count), word, 0, count));
            Same("span IndexOfAny", span.IndexOfAny(c, e), FirstOf(text.Substring(start, count), "" + c + e, 0, count));
            if (length == 0)
                continue;
            int end = random.Next(length);
            int back = random.Next(end + 2);
            Same("LastIndexOf char", text.LastIndexOf(c, end, back), Last(text, c.ToString(), end, back));
            Same("LastIndexOf word", text.LastIndexOf(word, end, back, StringComparison.Ordinal), Last(text, word, end, back));
            Same("span LastIndexOf", span.LastIndexOf(c), Last(text.Substring(start, count), c.ToString(), count - 1, count));
        }
    }

    static void Throws<T>(string what, Action action) where T : Exception
    {
        checks++;
        try { action(); }
        catch (T) { return; }
        throw new Exception(what + " does not throw");
    }

    static void Main()
    {
        for (int length = 0; length <= 200; length += length < 40 ? 1 : 7)
        {
            Comparisons(length);
            Searches(length);
            Changes(length);
        }
        // Through slices.
        string big = new string('x', 1000000) + "needle" + new string('y', 500000) + "needle";
        Same("far", big.IndexOf("needle", StringComparison.Ordinal), 1000000);
        Same("farther", big.LastIndexOf("needle", StringComparison.Ordinal), 1500006);
        Same("many candidates", new string('n', 300000).IndexOf("nnx", StringComparison.Ordinal), -1);
        Same("far char", big.IndexOf('y'), 1000006);
        Same("far last char", big.LastIndexOf('x'), 999999);
        Same("== of long ones", big == new string('x', 1000000) + "needle" + new string('y', 500000) + "needlf", false);
        Same("order of long ones", Math.Sign(string.CompareOrdinal(big, big + "a")), -1);
        string none = null;
        Throws<NullReferenceException>("null", () => none.IndexOf('a'));
        Throws<ArgumentNullException>("no word", () => big.IndexOf(none, StringComparison.Ordinal));
        Throws<ArgumentOutOfRangeException>("start", () => big.IndexOf('a', big.Length + 1));
        Throws<ArgumentOutOfRangeException>("count", () => big.IndexOf("a", 5, big.Length, StringComparison.Ordinal));
        Throws<ArgumentOutOfRangeException>("last", () => big.LastIndexOf('a', big.Length));
        Same("null ==", none == big, false);
        Same("order of null", string.CompareOrdinal(none, big), -1);
        // What is called through delegates, and as keys.
        Func<string, string, bool> equal = string.Equals;
        Same("delegate", equal("ab" + checks, "ab" + checks), true);
        var keys = new Dictionary<string, int>();
        for (int i = 0; i < 300; i++) keys[Text(i % 60, 26) + i] = i;
        foreach (var pair in new Dictionary<string, int>(keys)) Same("key", keys[new string(pair.Key.ToCharArray())], pair.Value);
        Console.WriteLine("ok");
    }
}
