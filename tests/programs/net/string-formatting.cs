// Interpolated strings and formats of numbers, dates and spans in the invariant culture; user-made handlers and formattable types.
using System;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Text;

readonly struct Celsius(double degrees) : ISpanFormattable
{
    public string ToString(string format, IFormatProvider provider) => degrees.ToString(format ?? "F1", provider) + " C";

    public bool TryFormat(Span<char> destination, out int written, ReadOnlySpan<char> format, IFormatProvider provider)
        => destination.TryWrite(provider, $"{degrees:F2} C", out written);
}

[InterpolatedStringHandler]
ref struct Counting(int literals, int holes)
{
    readonly StringBuilder text = new();
    public void AppendLiteral(string s) => text.Append('[').Append(s).Append(']');
    public void AppendFormatted<T>(T value) => text.Append('<').Append(value).Append('>');
    public override string ToString() => $"{literals} {holes} {text}";
}

static class Test
{
    static string Count(Counting c) => c.ToString();

    static void Main()
    {
        int n = 1234567;
        double d = 12345.6789;
        Console.WriteLine($"{n} {n:N0} {n:X8} {n,12} {n,-12}| {n:#,##0.00} {n:E3} {n:B}");
        Console.WriteLine($"{d} {d:F2} {d:G3} {d:E2} {d:P1} {d:R} {0.1 + 0.2} {1e300 * 1e10} {double.Epsilon} {float.MaxValue} {-0.0}");
        Console.WriteLine($"{1.10m} {decimal.MaxValue} {(Half)0.1} {1234.5m:C}");
        Console.WriteLine($"{true} {'c'} {null}| {new DateTime(2024, 2, 29, 13, 5, 9, DateTimeKind.Utc):O} {TimeSpan.FromSeconds(3661.5)}");
        Console.WriteLine($"{new DateTime(2024, 2, 29):D} {new DateTime(2024, 2, 29):R} {new DateOnly(2024, 2, 29)} {new TimeOnly(13, 5)}");
        Console.WriteLine($"{Guid.Empty} {new Version(1, 2, 3)} {new Celsius(21.55)} {new Celsius(21.55):F0}");
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{d:N1} and {n}"));
        Console.WriteLine(Count($"a{1}b{"two"}{3.5}"));
        Console.WriteLine(string.Format(CompositeFormat.Parse("{0,5}|{1:000}|") is var f ? CultureInfo.InvariantCulture : null, f, 42, 7));
        FormattableString s = $"{n:X} {d}";
        Console.WriteLine($"{s.Format} {s.ArgumentCount} {FormattableString.Invariant(s)}");
        Console.WriteLine($$"""{"name": "{{n}}"}""");
        Console.WriteLine("straße".ToUpperInvariant() + " " + "I".ToLower() + " " + string.Compare("a", "B", StringComparison.OrdinalIgnoreCase));
        Console.WriteLine(CultureInfo.CurrentCulture.Name + "|" + CultureInfo.InvariantCulture.NumberFormat.CurrencySymbol);
        Span<char> buffer = stackalloc char[8];
        Console.WriteLine(n.TryFormat(buffer, out int written) + " " + buffer[..written].ToString() + " " + long.MinValue.TryFormat(buffer, out _));
        Span<byte> bytes = stackalloc byte[16];
        Console.WriteLine(System.Text.Unicode.Utf8.TryWrite(bytes, $"é{n}", out written) + " " + written + " " + Encoding.UTF8.GetString(bytes[..written]));
        Console.WriteLine(int.Parse("-12", NumberStyles.Integer) + " " + double.Parse("1e-3", CultureInfo.InvariantCulture) + " " + int.TryParse("12x", out _));
    }
}
