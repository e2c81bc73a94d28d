// Base 64 and hexadecimal text of every length, with and without lines and spaces, valid or not, is what loops over characters make of it.
using System;
using System.Text;

static class Program
{
    const string Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static readonly Random random = new Random(17);
    static int checks;

    static void Same(string what, object got, object wanted)
    {
        checks++;
        if (!Equals(got, wanted)) throw new Exception(what + ": " + got + " and not " + wanted);
    }

    static void SameBytes(string what, byte[] got, byte[] wanted)
    {
        Same(what + " length", got.Length, wanted.Length);
        for (int i = 0; i < got.Length; i++)
            if (got[i] != wanted[i]) throw new Exception(what + " at " + i);
    }

    static string Encoded(byte[] bytes, int start, int length, bool lines)
    {
        var text = new StringBuilder();
        int inLine = 0;
        for (int i = 0; i < length; i += 3)
        {
            if (lines && inLine == 76) { text.Append("\r\n"); inLine = 0; }
            int left = Math.Min(3, length - i);
            int bits = bytes[start + i] << 16 | (left > 1 ? bytes[start + i + 1] << 8 : 0) | (left > 2 ? bytes[start + i + 2] : 0);
            text.Append(Digits[bits >> 18]).Append(Digits[bits >> 12 & 63]);
            text.Append(left > 1 ? Digits[bits >> 6 & 63] : '=').Append(left > 2 ? Digits[bits & 63] : '=');
            inLine += 4;
        }
        return text.ToString();
    }

    static string Hex(byte[] bytes, int start, int length)
    {
        var text = new StringBuilder();
        for (int i = 0; i < length; i++)
            text.Append(i > 0 ? "-" : "").Append("0123456789ABCDEF"[bytes[start + i] >> 4]).Append("0123456789ABCDEF"[bytes[start + i] & 15]);
        return text.ToString();
    }

    // What text stands for; null if it is not valid.
    static byte[] Decoded(string text)
    {
        var digits = new StringBuilder();
        foreach (char c in text)
            if (c != ' ' && c != '\t' && c != '\r' && c != '\n') digits.Append(c);
        if (digits.Length % 4 != 0) return null;
        var bytes = new byte[digits.Length / 4 * 3];
        int count = 0;
        for (int i = 0; i < digits.Length; i += 4)
        {
            bool isLast = i + 4 == digits.Length;
            int padding = digits[i + 3] != '=' || !isLast ? 0 : digits[i + 2] == '=' ? 2 : 1;
            int bits = 0;
            for (int k = 0; k < 4; k++)
            {
                int value = k >= 4 - padding ? 0 : Digits.IndexOf(digits[i + k]);
                if (value < 0) return null;
                bits = bits << 6 | value;
            }
            for (int k = 0; k < 3 - padding; k++)
                bytes[count++] = (byte)(bits >> 16 - 8 * k);
        }
        Array.Resize(ref bytes, count);
        return bytes;
    }

    static byte[] TryDecode(string text)
    {
        try { return Convert.FromBase64String(text); }
        catch (FormatException) { return null; }
    }

    static void Decodes(string what, string text)
    {
        var wanted = Decoded(text);
        var got = TryDecode(text);
        Same(what + " is valid", got != null, wanted != null);
        if (wanted != null) SameBytes(what, got, wanted);
        var chars = ("??" + text + "?").ToCharArray();
        bool isValid = true;
        try { got = Convert.FromBase64CharArray(chars, 2, text.Length); } catch (FormatException) { isValid = false; }
        Same(what + " of an array is valid", isValid, wanted != null);
        if (isValid) SameBytes(what + " of an array", got, wanted);
    }

    static void Lengths(int length)
    {
        var bytes = new byte[length + 5];
        random.NextBytes(bytes);
        int start = random.Next(5);
        foreach (bool lines in new[] { false, true })
        {
            var options = lines ? Base64FormattingOptions.InsertLineBreaks : Base64FormattingOptions.None;
            string wanted = Encoded(bytes, start, length, lines), what = "base 64 of " + length;
            Same(what, Convert.ToBase64String(bytes, start, length, options), wanted);
            var chars = new char[wanted.Length + 7];
            int written = Convert.ToBase64CharArray(bytes, start, length, chars, 3, options);
            Same(what + " in an array", new string(chars, 3, written), wanted);
            Same(what + " around", chars[2] == 0 && chars[3 + written] == 0, true);
            Decodes(what + " back", wanted);
            if (length > 2000) continue;
            for (int round = 0; round < 6 && wanted.Length > 0; round++)
            {
                var text = new StringBuilder(wanted);
                // Spaces, another character, a character too many or too few.
                int place = random.Next(wanted.Length);
                switch (round)
                {
                    case 0: for (int i = random.Next(9); i >= 0; i--) text.Insert(random.Next(text.Length + 1), " \t\r\n"[random.Next(4)]); break;
                    case 1: text[place] = "=-_ \u00e9\u0141\u4100\0~"[random.Next(9)]; break;
                    case 2: text[place] = (char)(text[place] + 0x100); break;
                    case 3: text.Remove(place, Math.Min(random.Next(1, 4), text.Length - place)); break;
                    case 4: text.Insert(place, "A=\n+"[random.Next(4)]); break;
                    case 5: text.Append("A==="[random.Next(4)]).Append(' '); break;
                }
                Decodes(what + ", changed " + round, text.ToString());
            }
        }
        Same("hexadecimal of " + length, BitConverter.ToString(bytes, start, length), Hex(bytes, start, length));
    }

    static void Spans()
    {
        for (int length = 0; length < 150; length++)
        {
            var bytes = new byte[length];
            random.NextBytes(bytes);
            string text = Encoded(bytes, 0, length, false);
            for (int room = Math.Max(0, length - 4); room < length + 4; room++)
            {
                var target = new byte[room];
                int written;
                bool fits = Convert.TryFromBase64String(text, target, out written);
                Same("fits " + length + " in " + room, fits, room >= length);
                Same("written " + length + " in " + room, written, fits ? length : 0);
                if (fits) { Array.Resize(ref target, length); SameBytes("in a span", target, bytes); }
            }
            var chars = new char[text.Length];
            int count;
            Same("text fits", Convert.TryToBase64Chars(bytes, chars, out count), true);
            Same("text", new string(chars, 0, count), text);
        }
    }

    static void Throws<T>(string what, Action action) where T : Exception
    {
        try { action(); }
        catch (T e) { Same(what, e.GetType(), typeof(T)); return; }
        throw new Exception(what + " throws nothing");
    }

    static void Main()
    {
        for (int length = 0; length <= 200; length++)
            Lengths(length);
        foreach (int length in new[] { 766, 767, 768, 769, 1000, 3000, 3071, 250000, 600001 })
            Lengths(length);
        Spans();
        Throws<ArgumentNullException>("null", () => BitConverter.ToString(null, 0, 1));
        Throws<ArgumentOutOfRangeException>("start", () => BitConverter.ToString(new byte[20], 20, 3));
        Throws<ArgumentException>("end", () => BitConverter.ToString(new byte[20], 3, 18));
        Throws<ArgumentOutOfRangeException>("length", () => BitConverter.ToString(new byte[20], 3, -1));
        Throws<ArgumentOutOfRangeException>("room", () => Convert.ToBase64CharArray(new byte[20], 0, 20, new char[27], 0));
        Throws<FormatException>("padding", () => Convert.FromBase64String("===="));
        Console.WriteLine("{0} checks", checks);
    }
}
