// Cultures one by one, comparison, casing, calendars.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading;
using static Sweep;

static class Program {
    static readonly DateTime Date = new DateTime (2009, 3, 7, 16, 5, 9, 78);

    static void Main ()
    {
        var cultures = CultureInfo.GetCultures (CultureTypes.AllCultures).OrderBy (c => c.Name, StringComparer.Ordinal).ToArray ();
        Check ("Culture list", () => { Print (cultures.Length, CultureInfo.GetCultures (CultureTypes.NeutralCultures).Length, CultureInfo.GetCultures (CultureTypes.SpecificCultures).Length); Print (cultures.Select (c => c.Name)); });
        // One check a culture, so that what differs is counted by culture.
        foreach (var c in cultures) {
            Check ("Culture " + c.Name, () => {
                Print (c.LCID, c.Parent.Name, c.DisplayName, c.EnglishName, c.NativeName, c.TwoLetterISOLanguageName, c.ThreeLetterISOLanguageName, c.ThreeLetterWindowsLanguageName, c.IsNeutralCulture, c.TextInfo.ListSeparator, c.TextInfo.IsRightToLeft, c.TextInfo.ANSICodePage, c.Calendar.GetType ().Name);
                var n = c.NumberFormat; Print (n.CurrencySymbol, n.NumberDecimalSeparator, n.NumberGroupSeparator, n.PercentSymbol, n.NegativeSign, n.PositiveInfinitySymbol, n.NaNSymbol, n.NumberGroupSizes, n.CurrencyPositivePattern, n.CurrencyNegativePattern, n.PercentPositivePattern, n.PerMilleSymbol, n.NativeDigits);
                Print ((-1234567.891).ToString ("N", c), 1234.5.ToString ("C", c), (-0.125).ToString ("P", c));
                var d = c.DateTimeFormat; Print (d.ShortDatePattern, d.LongDatePattern, d.ShortTimePattern, d.LongTimePattern, d.MonthDayPattern, d.YearMonthPattern, d.FirstDayOfWeek, d.CalendarWeekRule, d.AMDesignator, d.PMDesignator, d.DateSeparator, d.TimeSeparator);
                Print (d.DayNames, d.AbbreviatedDayNames, d.MonthNames, d.AbbreviatedMonthNames, d.MonthGenitiveNames, d.ShortestDayNames);
                foreach (var f in "dDfgGMtTyY") Print (f, Date.ToString (f.ToString (), c)); Print (d.GetAllDateTimePatterns ().Length, d.NativeCalendarName, d.GetEraName (0));
            });
        }
        Check ("Culture errors", () => new CultureInfo ("xx-bad-culture"));
        Check ("Culture by number", () => { Print (new CultureInfo (0x407).Name, CultureInfo.GetCultureInfo (1033).Name, CultureInfo.CreateSpecificCulture ("de").Name, CultureInfo.InvariantCulture.LCID, CultureInfo.CurrentCulture.Name, CultureInfo.InstalledUICulture.Name); new CultureInfo (0x9999); });
        Check ("Regions", () => { foreach (var n in new[] { "US", "DE", "JP", "IN", "de-CH", "BR", "SA", "CN" }) { var r = new RegionInfo (n); Print (r.Name, r.EnglishName, r.NativeName, r.CurrencySymbol, r.ISOCurrencySymbol, r.CurrencyEnglishName, r.IsMetric, r.GeoId, r.ThreeLetterISORegionName, r.TwoLetterISORegionName); } new RegionInfo ("XX"); });
        Check ("Comparison", () => { foreach (var c in new[] { "", "en-US", "de-DE", "sv-SE", "tr-TR", "ja-JP", "fr-FR" }) { var i = new CultureInfo (c).CompareInfo; Print (c, "a".CompareTo ("B"), i.Compare ("ä", "z"), i.Compare ("coop", "co-op"), i.Compare ("I", "ı", CompareOptions.IgnoreCase), i.Compare ("I", "i", CompareOptions.IgnoreCase), i.Compare ("ß", "ss"), i.Compare ("Ａ", "A", CompareOptions.IgnoreWidth), i.Compare ("ア", "あ", CompareOptions.IgnoreKanaType), i.Compare ("é", "e", CompareOptions.IgnoreNonSpace), i.Compare ("a\u0301", "á"), i.Compare ("a b", "ab", CompareOptions.IgnoreSymbols), i.Compare ("a", "A", CompareOptions.Ordinal)); } });
        Check ("Sorting", () => { var w = new[] { "cote", "coté", "côte", "côté", "Zebra", "zebra", "äpfel", "apfel", "Apfel", "öl", "oz", "naïve", "naive", "résumé", "resume", "a-b", "ab", "1", "10", "2", "_", "Ω", "я", "日", "" }; foreach (var c in new[] { "", "de-DE", "sv-SE", "fr-FR", "cs-CZ" }) Print (c, w.OrderBy (x => x, StringComparer.Create (new CultureInfo (c), false))); Print (w.OrderBy (x => x, StringComparer.InvariantCultureIgnoreCase)); });
        Check ("Search", () => { var i = CultureInfo.InvariantCulture.CompareInfo; Print (i.IndexOf ("Straße", "ss"), i.IndexOf ("cafe\u0301", "é"), i.IndexOf ("abcABC", "b", CompareOptions.IgnoreCase), i.LastIndexOf ("abcABC", "b", CompareOptions.IgnoreCase), i.IsPrefix ("äb", "a\u0308"), i.IsSuffix ("xé", "e\u0301"), i.IsPrefix ("ABC", "ab", CompareOptions.IgnoreCase), "strasse".IndexOf ("ß", StringComparison.InvariantCulture), i.IndexOf ("a\u00adb", "ab")); });
        Check ("Sort keys", () => { var i = CultureInfo.InvariantCulture.CompareInfo; foreach (var s in new[] { "a", "A", "ä", "ab", "1", "日", "" }) Print (s, i.GetSortKey (s).KeyData); Print (SortKey.Compare (i.GetSortKey ("a"), i.GetSortKey ("b")), i.GetHashCode ("a", CompareOptions.IgnoreCase) == i.GetHashCode ("A", CompareOptions.IgnoreCase)); });
        Check ("Casing", () => { foreach (var c in new[] { "", "tr-TR", "de-DE", "el-GR", "lt-LT", "az-Latn-AZ" }) { var t = new CultureInfo (c).TextInfo; Print (c, t.ToUpper ("iıßéσςǆﬁ"), t.ToLower ("IİÉΣǄ"), t.ToTitleCase ("hello wORLD iI o'neil ABC")); } });
        Check ("Unicode categories", () => { Print (Enumerable.Range (0, 0x10000).GroupBy (x => CharUnicodeInfo.GetUnicodeCategory ((char) x)).OrderBy (g => g.Key).Select (g => g.Key + ":" + g.Count () + ":" + g.Sum (x => (long) x))); Print (CharUnicodeInfo.GetNumericValue ('½'), CharUnicodeInfo.GetDecimalDigitValue ('٣'), CharUnicodeInfo.GetUnicodeCategory ("\ud835\udc00", 0)); });
        Check ("Char casing of the plane", () => Print (Enumerable.Range (0, 0x10000).Where (x => Char.ToUpperInvariant ((char) x) != x).Select (x => (long) x * Char.ToUpperInvariant ((char) x)).Sum (), Enumerable.Range (0, 0x10000).Where (x => Char.ToLowerInvariant ((char) x) != x).Select (x => (long) x * Char.ToLowerInvariant ((char) x)).Sum ()));
        Check ("Calendars", () => { foreach (Calendar c in new Calendar[] { new GregorianCalendar (), new JulianCalendar (), new HebrewCalendar (), new HijriCalendar (), new UmAlQuraCalendar (), new PersianCalendar (), new JapaneseCalendar (), new TaiwanCalendar (), new ThaiBuddhistCalendar (), new KoreanCalendar (), new ChineseLunisolarCalendar (), new JapaneseLunisolarCalendar () }) Print (c.GetType ().Name, c.GetEra (Date), c.GetYear (Date), c.GetMonth (Date), c.GetDayOfMonth (Date), c.GetDayOfYear (Date), c.IsLeapYear (c.GetYear (Date), c.GetEra (Date)), c.GetDaysInMonth (c.GetYear (Date), 2), c.GetMonthsInYear (c.GetYear (Date)), c.AddMonths (Date, 14).ToString ("s"), c.ToFourDigitYear (20), c.AlgorithmType, c.MinSupportedDateTime.ToString ("s"), c.GetWeekOfYear (Date, CalendarWeekRule.FirstFourDayWeek, DayOfWeek.Monday)); });
        Check ("Culture calendars", () => { var j = new CultureInfo ("ja-JP"); j.DateTimeFormat.Calendar = new JapaneseCalendar (); Print (Date.ToString ("ggyy年M月d日", j)); var h = new CultureInfo ("he-IL"); h.DateTimeFormat.Calendar = new HebrewCalendar (); Print (Date.ToString ("D", h)); var t = new CultureInfo ("th-TH"); Print (Date.ToString ("D", t)); var a = new CultureInfo ("ar-SA"); Print (Date.ToString ("D", a), a.OptionalCalendars.Length); });
        Check ("Parsing", () => { foreach (var c in new[] { "", "de-DE", "fr-FR", "en-US", "ja-JP", "ru-RU" }) { var i = new CultureInfo (c); Print (c, Double.Parse ((1234.5).ToString ("N", i), i), DateTime.Parse (Date.ToString ("G", i), i).ToString ("s"), DateTime.Parse (Date.ToString ("D", i), i).ToString ("s"), Decimal.Parse ((12.5m).ToString ("C", i), NumberStyles.Currency, i)); } });
        Check ("String info", () => { var e = StringInfo.GetTextElementEnumerator ("e\u0301a\ud83d\ude00\u0e01\u0e33x"); var l = new List<string> (); while (e.MoveNext ()) l.Add (e.GetTextElement ().Length.ToString ()); Print (l, new StringInfo ("e\u0301x").LengthInTextElements, StringInfo.ParseCombiningCharacters ("ae\u0301b")); });
        Check ("IdnMapping", () => { var m = new IdnMapping (); Print (m.GetAscii ("münchen.bücher.de"), m.GetUnicode ("xn--mnchen-3ya.de")); m.GetAscii ("a..b"); });
        Check ("Current culture", () => { var o = Thread.CurrentThread.CurrentCulture; Thread.CurrentThread.CurrentCulture = new CultureInfo ("de-DE"); Print ((1234.5).ToString ("N"), Date.ToString (), 1.5.ToString ("C")); string inner = null; var t = new Thread (() => inner = CultureInfo.CurrentCulture.Name); t.Start (); t.Join (); Print (inner); CultureInfo.DefaultThreadCurrentCulture = new CultureInfo ("fr-FR"); t = new Thread (() => inner = CultureInfo.CurrentCulture.Name); t.Start (); t.Join (); Print (inner); CultureInfo.DefaultThreadCurrentCulture = null; Thread.CurrentThread.CurrentCulture = o; });
        Check ("Clones", () => { var c = (CultureInfo) new CultureInfo ("en-US").Clone (); c.NumberFormat.NumberDecimalSeparator = "!"; Print (1.5.ToString (c), CultureInfo.ReadOnly (c).IsReadOnly); CultureInfo.InvariantCulture.NumberFormat.NaNSymbol = "x"; });
    }
}
