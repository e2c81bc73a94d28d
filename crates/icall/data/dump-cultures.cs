// Writes cultures.txt: the cultures of the class library that runs this, as `crates/icall/src/globalization/data.rs`
// reads them. Run it on the implementation whose behaviour is wanted:
//     mcs dump-cultures.cs && mono dump-cultures.exe > cultures.txt
// A culture lists only what differs from its parent. Fields are separated by tabs.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;

class DumpCultures
{
    const BindingFlags All = BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.Instance;

    static object Get(object o, string name)
    {
        for (var t = o.GetType(); t != null; t = t.BaseType)
        {
            var f = t.GetField(name, All);
            if (f != null) return f.GetValue(o);
        }
        throw new Exception("no field " + name + " in " + o.GetType());
    }

    static string Text(object o)
    {
        if (o == null) return null;
        if (o is string[]) return string.Join("\t", (string[])o);
        if (o is int[]) return string.Join("\t", ((int[])o).Select(i => i.ToString(CultureInfo.InvariantCulture)));
        if (o is bool) return (bool)o ? "1" : "0";
        return Convert.ToString(o, CultureInfo.InvariantCulture);
    }

    static Dictionary<string, string> Record(CultureInfo c)
    {
        var r = new Dictionary<string, string>();
        Action<string, object> put = (k, v) => { if (v != null) r[k] = Text(v); };
        put("lcid", Get(c, "cultureID"));
        put("parent_lcid", Get(c, "parent_lcid"));
        foreach (var n in new[] { "englishname", "nativename", "win3lang", "iso3lang", "iso2lang", "territory", "native_calendar_names" })
            put(n, Get(c, n));
        put("calendar_type", Get(c, "default_calendar_type"));
        var ti = c.GetType().GetMethod("GetTextInfoData", All).Invoke(c, null);
        foreach (var n in new[] { "ansi", "ebcdic", "mac", "oem", "right_to_left", "list_sep" }) put(n, Get(ti, n));
        var cd = Get(c, "m_cultureData");
        foreach (var n in new[] { "sAM1159", "sPM2359", "sTimeSeparator", "saLongTimes", "saShortTimes", "iFirstDayOfWeek", "iFirstWeekOfYear" })
            put(n, Get(cd, n));
        var calendar = cd.GetType().GetMethod("GetCalendar", All).Invoke(cd, new object[] { 1 });
        foreach (var n in new[] { "saShortDates", "saYearMonths", "saLongDates", "sMonthDay", "saDayNames", "saAbbrevDayNames",
            "saSuperShortDayNames", "saMonthNames", "saAbbrevMonthNames", "saMonthGenitiveNames", "saAbbrevMonthGenitiveNames" })
            put(n, Get(calendar, n));
        var nf = (NumberFormatInfo)new NumberFormatInfo().Clone();
        cd.GetType().GetMethod("GetNFIValues", All).Invoke(cd, new object[] { nf });
        foreach (var n in new[] { "currencyDecimalDigits", "currencyDecimalSeparator", "currencyGroupSeparator", "currencyGroupSizes",
            "currencyNegativePattern", "currencyPositivePattern", "currencySymbol", "nanSymbol", "negativeInfinitySymbol", "negativeSign",
            "numberDecimalDigits", "numberDecimalSeparator", "numberGroupSeparator", "numberGroupSizes", "numberNegativePattern",
            "perMilleSymbol", "percentNegativePattern", "percentPositivePattern", "percentSymbol", "positiveInfinitySymbol", "positiveSign" })
            put(n, Get(nf, n));
        return r;
    }

    static void Main()
    {
        var o = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
        o.WriteLine("# Written by dump-cultures.cs; see there.");
        var cultures = CultureInfo.GetCultures(CultureTypes.AllCultures).Where(c => c.LCID != 127).ToList();
        var records = new Dictionary<string, Dictionary<string, string>>();
        var regions = new SortedSet<string>(StringComparer.Ordinal);
        // In the library's own order, which GetCultures shows.
        foreach (var listed in cultures)
        {
            var record = Record(new CultureInfo(listed.Name, false));
            // Two cultures have a number in common twice (zh-Hans and zh-CHS); it leads to one of them.
            if (new CultureInfo(listed.LCID).Name != listed.Name) record["shadowed"] = "1";
            records[listed.Name] = record;
        }
        foreach (var listed in cultures)
        {
            var own = records[listed.Name];
            int parentLcid = int.Parse(own["parent_lcid"]);
            var parentName = cultures.Where(p => p.LCID == parentLcid && !records[p.Name].ContainsKey("shadowed")).Select(p => p.Name).FirstOrDefault();
            if (parentName == listed.Name) parentName = null;
            o.WriteLine("[" + listed.Name + (parentName != null ? "\t" + parentName : "") + "]");
            foreach (var kv in own)
            {
                string inherited;
                if (parentName == null || !records[parentName].TryGetValue(kv.Key, out inherited) || inherited != kv.Value)
                    o.WriteLine(kv.Key + "\t" + kv.Value);
            }
            if (own.ContainsKey("territory")) regions.Add(own["territory"].ToUpperInvariant());
        }
        foreach (var name in regions)
        {
            var r = new RegionInfo(name);
            o.WriteLine("{" + name + "}");
            foreach (var n in new[] { "regionId", "iso2Name", "iso3Name", "win3Name", "englishName", "nativeName", "currencySymbol",
                "isoCurrencySymbol", "currencyEnglishName", "currencyNativeName" })
                if (Get(r, n) != null) o.WriteLine(n + "\t" + Text(Get(r, n)));
        }
        o.Flush();
    }
}
