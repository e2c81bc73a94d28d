// System.Decimal: scale is kept, arithmetic is exact in base ten, overflow raises.
using System;
using System.Globalization;

static class Program
{
    static void Show(decimal d)
    {
        Console.WriteLine(d.ToString(CultureInfo.InvariantCulture));
    }

    static void Main()
    {
        Show(0.1m + 0.2m);
        Show(1.10m + 1.1m);
        Show(1.20m * 1.5m);
        Show(1m / 3m);
        Show(2m / 3m);
        Show(10m / 4m);
        Show(-7.5m % 2m);
        Show(decimal.MaxValue);
        Show(decimal.MinValue);
        Show(79228162514264337593543950335m - 1m);
        Show(decimal.Round(2.345m, 2));
        Show(decimal.Round(2.355m, 2));
        Show(decimal.Truncate(-2.9m));
        Show(decimal.Floor(-2.1m));
        Show((decimal)1e-10);
        Show(decimal.Parse("123456789.987654321", CultureInfo.InvariantCulture));
        Show(new decimal(1, 2, 3, true, 5));
        Console.WriteLine("{0} {1} {2}", 1.0m == 1.00m, 1.0m.GetHashCode() == 1.00m.GetHashCode(), 2m > 1.9m);
        Console.WriteLine(string.Join(",", decimal.GetBits(1.5m)));
        Console.WriteLine("{0} {1}", (int)3.99m, (long)-3.99m);
        decimal largest = decimal.MaxValue, threeBillion = 3000000000m;
        try
        {
            Show(largest + 1);
        }
        catch (OverflowException)
        {
            Console.WriteLine("overflow");
        }
        try
        {
            Show((int)threeBillion);
        }
        catch (OverflowException)
        {
            Console.WriteLine("overflow");
        }
        decimal sum = 0;
        for (int i = 1; i <= 1000; i++)
            sum += 1m / i;
        Show(decimal.Round(sum, 12));
    }
}
