// Encodings, StringBuilder, normalisation, regular expressions.
using System;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using static Sweep;

static class Program {
    const string Sample = "Az 09 äöüß €‰ Ωя 日本語 한국 \ud83d\ude00 ı";

    static void Main ()
    {
        Check ("Encoding list", () => Print (Encoding.GetEncodings ().Length, Encoding.GetEncodings ().OrderBy (e => e.CodePage).Select (e => e.CodePage + ":" + e.Name)));
        foreach (var info in Encoding.GetEncodings ().OrderBy (e => e.CodePage)) {
            Check ("Encoding " + info.Name, () => {
                var e = info.GetEncoding (); var b = e.GetBytes (Sample); Print (e.EncodingName, e.HeaderName, e.BodyName, e.WebName, e.WindowsCodePage, e.IsSingleByte, e.IsBrowserDisplay, e.IsMailNewsSave, e.GetPreamble (), e.GetMaxByteCount (10), e.GetMaxCharCount (10)); Print (b); Print (e.GetString (b)); Print (e.GetString (Enumerable.Range (0, 256).Select (i => (byte) i).ToArray ()).Sum (c => (long) c));
            });
        }
        Check ("Encoding errors", () => Encoding.GetEncoding ("no-such-encoding"));
        Check ("Fallbacks", () => { Print (Encoding.GetEncoding ("us-ascii", new EncoderReplacementFallback ("?!"), DecoderFallback.ReplacementFallback).GetBytes ("aäb")); Print (new UTF8Encoding (false, false).GetString (new byte[] { 0x41, 0xe2, 0x82, 0x41, 0xff, 0xf0, 0x9f }).Select (c => (int) c)); Encoding.GetEncoding ("us-ascii", EncoderFallback.ExceptionFallback, DecoderFallback.ExceptionFallback).GetBytes ("aäb"); });
        Check ("Strict UTF-8", () => new UTF8Encoding (false, true).GetString (new byte[] { 0xc0, 0x80 }));
        Check ("Lone surrogate", () => { Print (Encoding.UTF8.GetBytes ("a\ud800b")); new UTF8Encoding (false, true).GetBytes ("\ud800"); });
        Check ("Decoder state", () => { var d = Encoding.UTF8.GetDecoder (); var c = new char[10]; int n = 0; foreach (byte b in Encoding.UTF8.GetBytes ("a€\ud83d\ude00")) n += d.GetChars (new[] { b }, 0, 1, c, n); Print (new string (c, 0, n), n); int bu, cu; bool done; d.Convert (new byte[] { 65, 66, 67 }, 0, 3, c, 0, 2, true, out bu, out cu, out done); Print (bu, cu, done); });
        Check ("Encoder state", () => { var e = Encoding.UTF8.GetEncoder (); var b = new byte[10]; int n = e.GetBytes (new[] { '\ud83d' }, 0, 1, b, 0, false); n += e.GetBytes (new[] { '\ude00' }, 0, 1, b, n, true); Print (n, b); });
        Check ("StringBuilder", () => { var s = new StringBuilder ("abc", 4); s.Append (1).Append ('x', 3).Append (1.5).Append (true).Append ((object) null).AppendFormat ("{0,5}|{1:X4}|{2,-3}|", 1, 255, "a").Insert (1, "--").Replace ("x", "yy").Replace ('a', 'b').Remove (0, 1).AppendLine ("z"); Print (s, s.Length, s[2], s.ToString (2, 3), s.Equals (new StringBuilder (s.ToString ()))); s.Length = 3; Print (s); s.Length = 5; Print (s.ToString ().Select (c => (int) c)); s.Clear (); for (int i = 0; i < 10000; i++) s.Append (i); Print (s.Length, s.ToString ().GetHashCode () == s.ToString ().GetHashCode ()); var d = new char[5]; s.CopyTo (100, d, 1, 3); Print (new string (d, 1, 3)); s.Append ("x").EnsureCapacity (100000); Print (s.Capacity >= 100000); s.Insert (s.Length + 1, "x"); });
        Check ("StringBuilder limit", () => { var s = new StringBuilder (2, 4); s.Append ("abcde"); });
        Check ("Normalization", () => { foreach (NormalizationForm f in Enum.GetValues (typeof (NormalizationForm))) Print (f, "é ﬁ Å ｱ ① 가 ẛ̣ \u1e9b\u0323".Normalize (f).Select (c => (int) c), "e\u0301".IsNormalized (f), "é".IsNormalized (f)); });
        Check ("Normalization of the plane", () => { foreach (NormalizationForm f in Enum.GetValues (typeof (NormalizationForm))) Print (f, Enumerable.Range (0, 0xd800).Sum (i => ((char) i).ToString ().Normalize (f).Sum (c => (long) c * 31 + 7))); });
        Check ("Format", () => { Print (String.Format ("{0:N2} {1:D5} {2:E3} {3:P1} {4:X} {5:G} {6:F0} {7:R} {8:0.##;(0.##);zero}", 1234.567, 42, 12345.678, 0.123, 255, 1e20, 2.5, 0.1, -3.456)); Print ((0).ToString ("0.##;(0.##);zero"), 1234567.ToString ("#,##0,K"), 0.5.ToString ("0%"), 12.ToString ("'x'00\\y"), 1e-10.ToString ("G3"), Double.MaxValue, Double.Epsilon, Single.MaxValue, (0.1f + 0.2f), 1.0 / 3, Decimal.MaxValue, 1.10m, -0.0, Double.NaN, (1e15).ToString (), 1e16, 123456789012345678.0, 5e-324); String.Format ("{0} {1}", 1); });
        Check ("Format braces", () => { Print (String.Format ("{{{0}}}", 1)); String.Format ("{", 1); });
        Check ("Format alignment", () => Print (String.Format ("[{0,10:C}] [{0,-10:0.0}] [{1,3}]", 1.5, "long")));
        Check ("Regex", () => {
            foreach (var o in new[] { RegexOptions.None, RegexOptions.IgnoreCase, RegexOptions.Compiled, RegexOptions.RightToLeft }) {
                Print (o, Regex.Matches ("The quick brown fox jumps the Lazy dog", @"\b(?<w>t\w+|\w*o\w*)\b", o).Cast<Match> ().Select (m => m.Index + ":" + m.Groups["w"].Value));
                Print (Regex.Replace ("2009-03-07 and 2010-12-31", @"(\d{4})-(\d\d)-(\d\d)", "$3/$2/$1", o), Regex.Split ("a, b;c  d", @"[,;]?\s+|;", o), Regex.IsMatch ("abc\ndef", "^def$", o | RegexOptions.Multiline), Regex.Match ("aaa", "a{2}?", o).Value, Regex.Match ("<b>x</b><b>y</b>", "<b>(.*?)</b>", o).Groups[1].Value);
            }
        });
        Check ("Regex groups", () => { var m = Regex.Match ("key1=v1;key2=v2", @"(?:(?<k>\w+)=(?<v>\w+);?)+"); Print (m.Groups["k"].Captures.Cast<Capture> ().Select (c => c.Value + "@" + c.Index), new Regex (@"(a)(?<n>b)(c)").GetGroupNames (), new Regex (@"(a)(?<n>b)").GroupNumberFromName ("n")); Print (Regex.Match ("((a)(b))", @"^(?:[^()]|(?<o>\()|(?<-o>\)))*(?(o)(?!))$").Success, Regex.Match ("((a)(b)", @"^(?:[^()]|(?<o>\()|(?<-o>\)))*(?(o)(?!))$").Success); });
        Check ("Regex features", () => Print (Regex.IsMatch ("foobar", "foo(?=bar)"), Regex.IsMatch ("foobar", "(?<!foo)bar"), Regex.Match ("abab", @"(ab)\1").Value, Regex.Match ("aaab", "(?>a+)ab").Success, Regex.IsMatch ("É", @"\p{Lu}"), Regex.IsMatch ("٣", @"\d"), Regex.IsMatch ("٣", @"\d", RegexOptions.ECMAScript), Regex.IsMatch ("ab", "a b", RegexOptions.IgnorePatternWhitespace), Regex.Match ("x1y22", @"\d+", RegexOptions.RightToLeft).Value, Regex.Match ("abc", "(?i:B)").Value, Regex.IsMatch ("a-z", @"[a-z-[aeiou]]{1}"), Regex.Escape ("a.b*c[d]"), Regex.Unescape (@"\t\x41"), Regex.IsMatch ("ß", "SS", RegexOptions.IgnoreCase)));
        Check ("Regex evaluator", () => Print (Regex.Replace ("1 2 3", @"\d", m => (int.Parse (m.Value) * 2).ToString ()), new Regex ("a").Replace ("aaaa", "b", 2, 1), Regex.Replace ("abc", "(?<x>b)", "[${x}$&$`$'$_$$]")));
        Check ("Regex errors", () => { foreach (var p in new[] { "(", "[z-a]", "*a", @"\p{Bad}", "(?<n", "a{2,1}", @"(?(1)a|b|c)" }) try { new Regex (p); Print (p, "ok"); } catch (ArgumentException e) { Print (p, e.Message); } });
        Check ("Regex timeout", () => { try { new Regex ("^(a+)+$", RegexOptions.None, TimeSpan.FromMilliseconds (100)).IsMatch (new string ('a', 40) + "b"); } catch (RegexMatchTimeoutException e) { Print (e.Pattern, e.MatchTimeout); } });
        Check ("String methods", () => { Print ("a,b,,c".Split (','), "a--b-c".Split (new[] { "--", "-" }, StringSplitOptions.RemoveEmptyEntries), " x ".Trim (), "xxaxx".Trim ('x'), "abc".PadLeft (5, '.'), "abc".Substring (1), "abcabc".LastIndexOf ('b'), "abcabc".IndexOfAny (new[] { 'c', 'x' }), "a".CompareTo ("b"), String.Compare ("A", "a", StringComparison.OrdinalIgnoreCase), String.CompareOrdinal ("a", "B"), "abc".Contains ("bc"), "abc".Insert (1, "X"), "abc".Remove (1, 1), String.Join (",", 1, 2), String.Concat ("a", null, 1), "Abc".ToUpperInvariant (), "x".Equals ("X", StringComparison.CurrentCultureIgnoreCase), String.IsNullOrWhiteSpace (" \t"), "a\u00a0b".Split (null).Length, "abc".ToCharArray (), String.Intern ("x") == "x", "ab".GetHashCode () == "ab".GetHashCode (), new string ('x', 3)); "abc".Substring (4); });
        Check ("Char methods", () => Print (Char.IsLetter ('é'), Char.IsDigit ('٣'), Char.IsWhiteSpace ('\u2003'), Char.IsPunctuation ('!'), Char.IsSymbol ('€'), Char.IsSurrogatePair ('\ud83d', '\ude00'), Char.ConvertFromUtf32 (0x1f600), Char.ConvertToUtf32 ("\ud83d\ude00", 0), Char.GetNumericValue ('½'), Char.ToUpper ('ß'), Char.Parse ("x")));
        Check ("Base64", () => { Print (Convert.ToBase64String (Enumerable.Range (0, 60).Select (i => (byte) i).ToArray (), Base64FormattingOptions.InsertLineBreaks), Convert.FromBase64String (" AQ ID\n")); Convert.FromBase64String ("A"); });
    }
}
