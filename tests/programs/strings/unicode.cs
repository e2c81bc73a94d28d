// Surrogates, encodings and text elements.
using System;
using System.Text;

static class Program
{
    static void Main()
    {
        string s = "a\u00e9\u20ac\U0001F600z";
        Console.WriteLine("{0} {1}", s.Length, s);
        foreach (Encoding e in new Encoding[] { new UTF8Encoding(false), new UnicodeEncoding(false, false), new UnicodeEncoding(true, false), new UTF32Encoding(false, false), Encoding.ASCII, Encoding.GetEncoding("iso-8859-1") })
        {
            byte[] bytes = e.GetBytes(s);
            Console.WriteLine("{0}: {1} -> {2}", e.WebName, BitConverter.ToString(bytes), e.GetString(bytes).Length);
        }
        Console.WriteLine("{0} {1} {2}", char.IsHighSurrogate(s[3]), char.IsLowSurrogate(s[4]), char.ConvertToUtf32(s, 3).ToString("x"));
        Console.WriteLine(char.ConvertFromUtf32(0x1F601).Length);
        Console.WriteLine(Encoding.UTF8.GetString(new byte[] { 0x41, 0xff, 0x42, 0xe2, 0x82 }).Replace('\ufffd', '?'));
        try
        {
            new UTF8Encoding(false, true).GetString(new byte[] { 0xff });
        }
        catch (DecoderFallbackException)
        {
            Console.WriteLine("strict decoder refuses");
        }
        Decoder decoder = Encoding.UTF8.GetDecoder();
        char[] chars = new char[4];
        int n = decoder.GetChars(new byte[] { 0xe2, 0x82 }, 0, 2, chars, 0);
        int m = decoder.GetChars(new byte[] { 0xac }, 0, 1, chars, n);
        Console.WriteLine("{0} {1} {2}", n, m, chars[0]);
        Console.WriteLine("{0} {1}", Encoding.UTF8.GetByteCount(s), Encoding.UTF8.GetMaxByteCount(10) >= 30);
        Console.WriteLine(Convert.ToBase64String(Encoding.UTF8.GetBytes("any carnal pleas")));
        Console.WriteLine(Encoding.ASCII.GetString(Convert.FromBase64String("YW55IGNhcm5hbCBwbGVhcw==")));
        Console.WriteLine("{0} {1} {2}", char.GetUnicodeCategory('A'), char.GetUnicodeCategory('1'), char.GetUnicodeCategory(' '));
        Console.WriteLine("{0} {1} {2}", char.ToUpperInvariant('\u00e9') == '\u00c9', "stra\u00dfe".ToUpperInvariant(), '\u0131' == char.ToLowerInvariant('I'));
        Console.WriteLine(string.CompareOrdinal("\ud800", "\uffff") < 0);
    }
}
