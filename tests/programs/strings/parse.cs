// Parse and TryParse of numbers, dates and other types, invariant culture.
using System;
using System.Globalization;

static class Program
{
    static readonly CultureInfo Invariant = CultureInfo.InvariantCulture;

    static void Int(string text, NumberStyles styles = NumberStyles.Integer)
    {
        try
        {
            Console.WriteLine("'{0}' -> {1}", text, int.Parse(text, styles, Invariant));
        }
        catch (Exception e)
        {
            Console.WriteLine("'{0}' -> {1}", text, e.GetType().Name);
        }
    }

    static void Double(string text)
    {
        double d;
        bool ok = double.TryParse(text, NumberStyles.Float | NumberStyles.AllowThousands, Invariant, out d);
        Console.WriteLine("'{0}' -> {1} {2}", text, ok, d.ToString("R", Invariant));
    }

    static void Main()
    {
        Int("42");
        Int(" -7 ");
        Int("+5");
        Int("2147483647");
        Int("2147483648");
        Int("-2147483648");
        Int("1,000");
        Int("1,000", NumberStyles.AllowThousands);
        Int("ff", NumberStyles.HexNumber);
        Int("FFFFFFFF", NumberStyles.HexNumber);
        Int("(12)", NumberStyles.AllowParentheses);
        Int("");
        Int(null);
        Int("1.0");
        Double("3.25");
        Double("-1e10");
        Double(".5");
        Double("1,234.5");
        Double("NaN");
        Double("Infinity");
        Double("-Infinity");
        Double("0.1");
        Double("2.2250738585072014E-308");
        Double("179769313486231570000000000000000000000");
        Double("9007199254740993");
        Double("abc");
        Double("");
        Console.WriteLine("{0} {1}", long.Parse("-9223372036854775808"), ulong.Parse("18446744073709551615"));
        Console.WriteLine("{0} {1} {2}", bool.Parse("True"), bool.Parse(" false "), char.Parse("x"));
        byte b;
        Console.WriteLine("{0} {1}", byte.TryParse("256", out b), b);
        Console.WriteLine(DateTime.ParseExact("2001-02-03 04:05", "yyyy-MM-dd HH:mm", Invariant).ToString("o", Invariant));
        Console.WriteLine(DateTime.Parse("1999-12-31T23:59:59", Invariant).AddSeconds(1).ToString("s", Invariant));
        Console.WriteLine(TimeSpan.Parse("1.02:03:04", Invariant).TotalSeconds);
        Console.WriteLine(Guid.Parse("{00112233-4455-6677-8899-AABBCCDDEEFF}"));
        Console.WriteLine(Version.Parse("1.2.3.4").CompareTo(new Version(1, 2, 4)));
        Console.WriteLine("{0} {1}", Enum.Parse(typeof(DayOfWeek), "monday", true), (int)(DayOfWeek)Enum.Parse(typeof(DayOfWeek), "6"));
        DateTime date;
        Console.WriteLine(DateTime.TryParseExact("31/02/2001", "dd/MM/yyyy", Invariant, DateTimeStyles.None, out date));
    }
}
