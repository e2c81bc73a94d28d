// UTF-8, ASCII and Latin-1, from and to strings: what loops over code points give, for every length and place of what is not ASCII, with replacement and exceptions for
// what is invalid, and targets that are too small.
using System;
using System.Collections.Generic;
using System.Text;

static class Program
{
    static readonly Random random = new Random(5);

    static void Fail(string what, string detail) { throw new Exception(what + ": " + detail); }

    static string Hex(IEnumerable<byte> bytes) { var b = new StringBuilder(); foreach (byte x in bytes) b.Append(x.ToString("x2")); return b.ToString(); }
    static string Hex(string text) { var b = new StringBuilder(); foreach (char c in text) b.Append(((int)c).ToString("x4")).Append(' '); return b.ToString(); }

    static byte[] Encoded(List<int> codes)
    {
        var bytes = new List<byte>();
        foreach (int c in codes)
        {
            if (c < 0x80) bytes.Add((byte)c);
            else if (c < 0x800) { bytes.Add((byte)(0xc0 | c >> 6)); bytes.Add((byte)(0x80 | c & 63)); }
            else if (c < 0x10000) { bytes.Add((byte)(0xe0 | c >> 12)); bytes.Add((byte)(0x80 | c >> 6 & 63)); bytes.Add((byte)(0x80 | c & 63)); }
            else { bytes.Add((byte)(0xf0 | c >> 18)); bytes.Add((byte)(0x80 | c >> 12 & 63)); bytes.Add((byte)(0x80 | c >> 6 & 63)); bytes.Add((byte)(0x80 | c & 63)); }
        }
        return bytes.ToArray();
    }

    static string Units(List<int> codes)
    {
        var text = new StringBuilder();
        foreach (int c in codes)
            if (c < 0x10000) text.Append((char)c);
            else text.Append((char)(0xd7c0 + (c >> 10))).Append((char)(0xdc00 | c & 0x3ff));
        return text.ToString();
    }

    static int Code(int kind)
    {
        switch (kind)
        {
            case 0: return random.Next(1, 0x80);
            case 1: return random.Next(0x80, 0x800);
            case 2: return random.Next(0x800, 0xd800);
            case 3: return random.Next(0xe000, 0x10000);
            default: return random.Next(0x10000, 0x110000);
        }
    }

    static readonly UTF8Encoding replacing = new UTF8Encoding(false), throwing = new UTF8Encoding(false, true);

    static void Valid(List<int> codes)
    {
        byte[] bytes = Encoded(codes);
        string text = Units(codes);
        foreach (var utf8 in new Encoding[] { replacing, throwing, Encoding.UTF8 })
        {
            if (utf8.GetString(bytes) != text) Fail("GetString", Hex(bytes));
            if (utf8.GetCharCount(bytes) != text.Length) Fail("GetCharCount", Hex(bytes));
            if (Hex(utf8.GetBytes(text)) != Hex(bytes)) Fail("GetBytes", Hex(text));
            if (utf8.GetByteCount(text) != bytes.Length) Fail("GetByteCount", Hex(text));
            if (utf8.GetByteCount(text.ToCharArray()) != bytes.Length) Fail("GetByteCount of characters", Hex(text));
        }
        // Into the middle of arrays.
        var into = new byte[bytes.Length + 7];
        if (replacing.GetBytes(text, 0, text.Length, into, 3) != bytes.Length || Hex(new ArraySegment<byte>(into, 3, bytes.Length)) != Hex(bytes) || into[2] != 0 || into[bytes.Length + 3] != 0)
            Fail("GetBytes into", Hex(text));
        var chars = new char[text.Length + 5];
        if (replacing.GetChars(bytes, 0, bytes.Length, chars, 2) != text.Length || new string(chars, 2, text.Length) != text || chars[1] != 0 || chars[text.Length + 2] != 0)
            Fail("GetChars into", Hex(bytes));
        if (text.Length == 0)
            return;
        bool threw = false;
        try { replacing.GetBytes(text, 0, text.Length, new byte[bytes.Length - 1], 0); } catch (ArgumentException) { threw = true; }
        if (!threw) Fail("GetBytes with too little room", Hex(text));
        threw = false;
        try { replacing.GetChars(bytes, 0, bytes.Length, new char[text.Length - 1], 0); } catch (ArgumentException) { threw = true; }
        if (!threw) Fail("GetChars with too little room", Hex(bytes));
        // In pieces, with a state.
        var decoder = replacing.GetDecoder();
        var decoded = new StringBuilder();
        var piece = new char[16];
        for (int i = 0; i < bytes.Length; i++)
            decoded.Append(piece, 0, decoder.GetChars(bytes, i, 1, piece, 0));
        if (decoded.ToString() != text) Fail("decoder", Hex(bytes));
        decoder = throwing.GetDecoder();
        decoded.Clear();
        var chunk = new char[64];
        for (int i = 0; i < bytes.Length; )
        {
            int size = Math.Min(bytes.Length - i, random.Next(1, 60)), bytesUsed, charsUsed;
            bool completed;
            decoder.Convert(bytes, i, size, chunk, 0, random.Next(3) == 0 ? 7 : 64, i + size == bytes.Length, out bytesUsed, out charsUsed, out completed);
            decoded.Append(chunk, 0, charsUsed);
            i += bytesUsed;
        }
        if (decoded.ToString() != text) Fail("decoder of chunks", Hex(bytes));
        Wide(text);
    }

    static void Wide(string text)
    {
        foreach (var encoding in new[] { Encoding.Unicode, Encoding.BigEndianUnicode, new UnicodeEncoding(false, false, true) })
        {
            var wide = new byte[2 * text.Length];
            int high = encoding == Encoding.BigEndianUnicode ? 0 : 1;
            for (int i = 0; i < text.Length; i++) { wide[2 * i + high] = (byte)(text[i] >> 8); wide[2 * i + 1 - high] = (byte)text[i]; }
            if (encoding.GetString(wide) != text || encoding.GetCharCount(wide) != text.Length) Fail("from UTF-16", Hex(wide));
            if (Hex(encoding.GetBytes(text)) != Hex(wide) || encoding.GetByteCount(text) != wide.Length) Fail("to UTF-16", Hex(text));
            var shifted = new byte[wide.Length + 1];
            wide.CopyTo(shifted, 1);
            if (encoding.GetString(shifted, 1, wide.Length) != text) Fail("from UTF-16 at an odd place", Hex(wide));
            if (text.Length == 0) continue;
            if (encoding != Encoding.Unicode) continue;
            string half = text.Substring(0, text.Length - 1);
            if (char.IsLowSurrogate(text[text.Length - 1])) { if (encoding.GetString(wide, 0, wide.Length - 2) != text.Substring(0, text.Length - 2) + "\ufffd") Fail("half a pair", Hex(wide)); }
            else if (encoding.GetString(wide, 0, wide.Length - 1) != half + "\ufffd") Fail("half a unit", Hex(wide));
        }
    }

    static readonly string[] invalid = { "80", "bf80", "c0af", "c1bf", "c2", "c241", "e08080", "e09fbf", "e18041", "e180", "e1", "eda080", "edbfbf", "f0808080", "f08fbfbf", "f0908041", "f09080", "f090", "f4908080", "f5808080", "ff", "fe" };

    static void Invalid(int length, string sequence)
    {
        var bytes = new List<byte>();
        var text = new StringBuilder();
        for (int i = 0; i < length; i++) { bytes.Add((byte)(97 + i % 26)); text.Append((char)(97 + i % 26)); }
        for (int i = 0; i < sequence.Length; i += 2) bytes.Add(Convert.ToByte(sequence.Substring(i, 2), 16));
        bytes.Add((byte)'Z');
        string decoded = replacing.GetString(bytes.ToArray());
        if (!decoded.StartsWith(text.ToString(), StringComparison.Ordinal) || decoded[length] != '\ufffd' || decoded[decoded.Length - 1] != 'Z') Fail("replacement", Hex(bytes) + " " + Hex(decoded));
        if (replacing.GetCharCount(bytes.ToArray()) != decoded.Length) Fail("count with replacement", Hex(bytes));
        // What replaces does not depend on how much comes before.
        string alone = replacing.GetString(bytes.GetRange(length, bytes.Count - length).ToArray());
        if (decoded.Substring(length) != alone) Fail("replacement behind others", Hex(bytes));
        var room = new char[decoded.Length + 20];
        for (int i = 0; i < room.Length; i++) room[i] = '#';
        if (replacing.GetChars(bytes.ToArray(), 0, bytes.Count, room, 1) != decoded.Length || new string(room) != "#" + decoded + new string('#', 19)) Fail("replacement into", Hex(bytes));
        int thrown = 0;
        try { throwing.GetString(bytes.ToArray()); } catch (DecoderFallbackException) { thrown++; }
        try { throwing.GetCharCount(bytes.ToArray()); } catch (DecoderFallbackException) { thrown++; }
        if (thrown != 2) Fail("exception", Hex(bytes));
    }

    static void Unpaired(int length, string units)
    {
        string text = new string('q', length) + units + "Z";
        byte[] bytes = replacing.GetBytes(text);
        string back = replacing.GetString(bytes);
        if (back != text.Replace(units, new string('\ufffd', units.Length))) Fail("unpaired", Hex(text) + ": " + Hex(bytes));
        if (replacing.GetByteCount(text) != bytes.Length) Fail("count of unpaired", Hex(text));
        int thrown = 0;
        try { throwing.GetBytes(text); } catch (EncoderFallbackException e) { thrown += e.Index == length ? 1 : 0; }
        try { throwing.GetByteCount(text); } catch (EncoderFallbackException) { thrown++; }
        if (thrown != 2) Fail("exception for unpaired", Hex(text));
    }

    static void OfBytes(Encoding encoding, int limit, int length)
    {
        var bytes = new byte[length];
        var chars = new char[length];
        for (int i = 0; i < length; i++) chars[i] = (char)(bytes[i] = (byte)random.Next(limit));
        string text = new string(chars);
        if (encoding.GetString(bytes) != text || encoding.GetCharCount(bytes) != length) Fail("from bytes", Hex(bytes));
        if (Hex(encoding.GetBytes(text)) != Hex(bytes) || encoding.GetByteCount(text) != length) Fail("to bytes", Hex(text));
        for (int place = 0; place < length; place += 1 + length / 9)
        {
            var odd = text.ToCharArray();
            odd[place] = (char)(limit + random.Next(3) * 0x1000);
            byte[] encoded = encoding.GetBytes(odd);
            var expected = (byte[])bytes.Clone();
            expected[place] = (byte)'?';
            if (encoded.Length != length || (Hex(encoded) != Hex(expected) && limit == 128)) Fail("replaced", Hex(new string(odd)));
            if (limit < 256)
            {
                var other = (byte[])bytes.Clone();
                other[place] = 200;
                string decoded = encoding.GetString(other);
                if (decoded.Length != length || (decoded[place] != '?' && decoded[place] != '\ufffd')) Fail("replaced", Hex(other));
            }
        }
    }

    static void Main()
    {
        for (int length = 0; length <= 200; length += length < 40 ? 1 : 9)
        {
            for (int round = 0; round < 12; round++)
            {
                var codes = new List<int>();
                int rarity = random.Next(3) == 0 ? 1 : random.Next(2, 60);
                for (int i = 0; i < length; i++) codes.Add(Code(random.Next(rarity) == 0 ? random.Next(5) : 0));
                Valid(codes);
            }
            for (int kind = 0; kind < 5; kind++)
            {
                var codes = new List<int>();
                for (int i = 0; i < length; i++) codes.Add(Code(kind));
                Valid(codes);
            }
            foreach (string sequence in invalid) Invalid(length, sequence);
            Unpaired(length, "\ud800");
            Unpaired(length, "\udc00");
            Unpaired(length, "\udbff");
            OfBytes(Encoding.ASCII, 128, length);
            OfBytes(Encoding.GetEncoding(28591), 256, length);
        }
        // Through slices, at which characters of every length end and begin.
        for (int shift = 0; shift < 4; shift++)
        {
            var codes = new List<int>();
            for (int i = 0; i < shift; i++) codes.Add('x');
            for (int i = 0; i < 100000; i++) codes.Add(i % 3 == 0 ? 0x10400 + i % 32 : 0x4e00 + i % 1000);
            byte[] bytes = Encoded(codes);
            string text = Units(codes);
            if (replacing.GetString(bytes) != text || throwing.GetBytes(text).Length != bytes.Length || throwing.GetByteCount(text) != bytes.Length) Fail("slices", shift.ToString());
        }
        Console.WriteLine("ok");
    }
}
