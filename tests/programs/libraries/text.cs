// Regular expressions, dates, cultures, encodings of data, hashing, compression-free parts of System.dll.
using System;
using System.Globalization;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

static class Program
{
    static string Hex(byte[] bytes)
    {
        return string.Concat(bytes.Select(b => b.ToString("x2")));
    }

    static void Main()
    {
        Match m = Regex.Match("key = value; other=thing", @"(?<k>\w+)\s*=\s*(?<v>\w+)");
        Console.WriteLine("{0} {1} {2}", m.Success, m.Groups["k"].Value, m.NextMatch().Groups["v"].Value);
        Console.WriteLine(Regex.Replace("2001-02-03", @"(\d+)-(\d+)-(\d+)", "$3.$2.$1"));
        Console.WriteLine(Regex.Replace("a1b22c333", @"\d+", x => "<" + x.Length + ">"));
        Console.WriteLine(string.Join("|", Regex.Split("a, b;c", @"[,;]\s*")));
        Console.WriteLine("{0} {1}", Regex.IsMatch("HELLO", "hel+o", RegexOptions.IgnoreCase), Regex.IsMatch("aaa", "^(a|aa)+$"));
        Console.WriteLine(new Regex(@"\b(\w)(\w*)\b", RegexOptions.Compiled).Replace("compiled regular expression", x => x.Groups[1].Value.ToUpperInvariant() + x.Groups[2].Value));
        Console.WriteLine(Regex.Matches("one two three", @"\w+").Cast<Match>().Sum(x => x.Length));

        DateTime d = new DateTime(2012, 2, 28, 23, 59, 59, DateTimeKind.Utc);
        Console.WriteLine("{0:s} {1:s} {2}", d.AddDays(1), d.AddMonths(1).AddYears(1), d.DayOfWeek);
        Console.WriteLine("{0} {1} {2}", DateTime.IsLeapYear(2012), DateTime.DaysInMonth(2012, 2), d.DayOfYear);
        Console.WriteLine("{0} {1}", (new DateTime(2000, 1, 1) - new DateTime(1999, 1, 1)).TotalDays, new DateTime(630822816000000000).Ticks);
        Console.WriteLine("{0} {1}", DateTimeOffset.Parse("2001-02-03T04:05:06+02:00", CultureInfo.InvariantCulture).UtcDateTime.ToString("s"), TimeSpan.FromMinutes(90.5));
        Console.WriteLine(new GregorianCalendar().GetWeekOfYear(d, CalendarWeekRule.FirstFourDayWeek, DayOfWeek.Monday));
        Console.WriteLine("{0} {1}", CultureInfo.InvariantCulture.NumberFormat.NumberGroupSeparator, CultureInfo.InvariantCulture.DateTimeFormat.GetMonthName(3));
#if !NET
        // The suite runs .NET without data of cultures.
        CultureInfo german = new CultureInfo("de-DE");
        Console.WriteLine("{0} {1}", 1234.5.ToString("N2", german), new DateTime(2001, 2, 3).ToString("d. MMMM yyyy", german));
        Console.WriteLine(double.Parse("1.234,5", german) == 1234.5);
        Console.WriteLine(new CultureInfo("en-US").TextInfo.ToTitleCase("title case text"));
#endif

        byte[] data = Encoding.UTF8.GetBytes("The quick brown fox jumps over the lazy dog");
        using (MD5 md5 = MD5.Create()) Console.WriteLine(Hex(md5.ComputeHash(data)));
        using (SHA1 sha1 = SHA1.Create()) Console.WriteLine(Hex(sha1.ComputeHash(data)));
        using (SHA256 sha256 = SHA256.Create()) Console.WriteLine(Hex(sha256.ComputeHash(data)));
        using (HMACSHA256 hmac = new HMACSHA256(Encoding.UTF8.GetBytes("key"))) Console.WriteLine(Hex(hmac.ComputeHash(data)));
        using (Aes aes = Aes.Create())
        {
            aes.Key = Enumerable.Range(0, 16).Select(i => (byte)i).ToArray();
            aes.IV = new byte[16];
            byte[] sealedBytes = aes.CreateEncryptor().TransformFinalBlock(data, 0, data.Length);
            Console.WriteLine("{0} {1}", Hex(sealedBytes.Take(8).ToArray()), Encoding.UTF8.GetString(aes.CreateDecryptor().TransformFinalBlock(sealedBytes, 0, sealedBytes.Length)).Length);
        }
        Uri uri = new Uri("http://user@example.org:8080/a/../b/c?x=1&y=%20z#frag");
        Console.WriteLine("{0} {1} {2} {3} {4}", uri.Host, uri.Port, uri.AbsolutePath, uri.Query, uri.Fragment);
        Console.WriteLine(Uri.EscapeDataString("a b&c/\u00e4") + " " + Uri.UnescapeDataString("%41%20"));
        Console.WriteLine(new UriBuilder("http", "host", 81, "p").Uri);
    }
}
