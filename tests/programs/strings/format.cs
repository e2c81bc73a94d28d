// Composite formatting and standard/custom number formats, invariant culture.
using System;
using System.Globalization;

sealed class Money : IFormattable
{
    public int Cents;

    public string ToString(string format, IFormatProvider provider)
    {
        return format == "c" ? Cents + "c" : (Cents / 100) + "." + (Cents % 100).ToString("00");
    }

    public override string ToString()
    {
        return "plain";
    }
}

static class Program
{
    static readonly CultureInfo Invariant = CultureInfo.InvariantCulture;

    static void Show(string format, params object[] arguments)
    {
        Console.WriteLine(string.Format(Invariant, format, arguments));
    }

    static void Main()
    {
        Show("[{0}] [{0,6}] [{0,-6}] [{0:x}] [{0:X8}]", 255);
        Show("{0:D5} {0:N0} {0:N2} {0:F1} {0:E2} {0:P0} {0:C0}", 1234);
        Show("{0:G} {0:G3} {0:F2} {0:E3} {0:N1} {0:R} {0:0.##} {0:#,##0.000}", 1234.5678);
        Show("{0} {1} {2} {3}", 0.1, 1e21, 1e-7, -0.5);
        Show("{0} {1} {2} {3}", double.NaN, double.PositiveInfinity, double.NegativeInfinity, double.MaxValue);
        Show("{0} {1} {2} {3}", 0.1f, 1.0f / 3, 16777216f, float.Epsilon);
        Show("{0} {1}", 1.0 / 3, 2.0 / 3);
        Show("{0} {1:R} {2:R}", 123456789012345680.0, 0.30000000000000004, 1.0 / 3);
        Show("{0:0000} {0:#} {0:+0;-0;zero} {1:+0;-0;zero} {2:+0;-0;zero}", 7, -7, 0);
        Show("{0:0.0%} {1:0.00e+00} {2:(###) ###-####}", 0.125, 12345.678, 5551234567);
        Show("{0:x} {1:X} {2:x4} {3:X}", -1, (byte)200, (short)-2, ulong.MaxValue);
        Show("{0} {1} {2}", long.MinValue, ulong.MaxValue, sbyte.MinValue);
        Show("{0} {1} {2} {3}", true, 'c', null, "s");
        Show("{0} {0:c} {0:d} {1,8}|", new Money { Cents = 1999 }, "right");
        Show("{0:yyyy-MM-dd HH:mm:ss.fff} {0:s} {0:dddd, d MMMM yyyy} {0:u}", new DateTime(2009, 2, 3, 4, 5, 6, 78));
        Show("{0} {0:g} {0:c}", new TimeSpan(1, 2, 3, 4, 500));
        Show("{0} {0:N} {0:B}", new Guid("00112233-4455-6677-8899-aabbccddeeff"));
        Show("{0} {0:D} {0:X} {0:G}", DayOfWeek.Friday);
        Show("{{{0}}} {1}{2}", 1, 2, 3);
        Console.WriteLine(12.5.ToString("000.00", Invariant) + " " + (-5).ToString("D3") + " " + 42.ToString("B".Length == 1 ? "D" : "X"));
        Console.WriteLine("interpolated " + $"{1 + 1} {"in",5} {255:x2}");
        foreach (string bad in new[] { "{0", "{1}", "}", "{a}" })
        {
            try
            {
                string.Format(bad, 1);
                Console.WriteLine("accepted " + bad);
            }
            catch (FormatException)
            {
                Console.WriteLine("FormatException " + bad);
            }
        }
        try
        {
            5.ToString("Q");
        }
        catch (FormatException)
        {
            Console.WriteLine("FormatException Q");
        }
    }
}
