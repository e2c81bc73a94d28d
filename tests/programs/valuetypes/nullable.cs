// Nullable<T>: lifted operators, three-valued logic, coalescing, conversions.
using System;

static class Program
{
    static string S<T>(T? value) where T : struct
    {
        return value.HasValue ? value.Value.ToString() : "null";
    }

    static void Main()
    {
        int? a = 5, b = null, c = 7;
        Console.WriteLine("{0} {1} {2}", S(a + c), S(a + b), S(-b));
        Console.WriteLine("{0} {1} {2} {3}", a < c, a < b, b == null, b != b);
        Console.WriteLine("{0} {1} {2}", a == 5, b == 5, a != b);
        Console.WriteLine("{0} {1} {2}", b ?? 9, a ?? 9, b ?? c ?? 1);
        Console.WriteLine("{0} {1} {2}", a.GetValueOrDefault(), b.GetValueOrDefault(), b.GetValueOrDefault(3));
        Console.WriteLine("[{0}] [{1}] {2} {3}", a, b, b.GetHashCode(), a.Equals(5));
        bool? t = true, f = false, u = null;
        Console.WriteLine("{0} {1} {2} {3}", S(t & u), S(f & u), S(t | u), S(f | u));
        Console.WriteLine("{0} {1}", S(!u), S(t ^ u));
        long? wide = a;
        double? real = b;
        Console.WriteLine("{0} {1}", S(wide), S(real));
        Console.WriteLine(S((int?)wide));
        try
        {
            Console.WriteLine(b.Value);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("InvalidOperationException");
        }
        try
        {
            Console.WriteLine((int)b);
        }
        catch (InvalidOperationException)
        {
            Console.WriteLine("InvalidOperationException");
        }
        a++;
        b++;
        Console.WriteLine("{0} {1}", S(a), S(b));
        DateTime? date = new DateTime(2000, 1, 1);
        Console.WriteLine((date - new DateTime(1999, 12, 31)).Value.TotalDays);
        string text = null;
        Console.WriteLine("{0} {1}", text?.Length == null, text?.Length ?? -1);
        Console.WriteLine("{0} {1}", Nullable.Compare(a, c), Nullable.GetUnderlyingType(typeof(int?)));
        int?[] array = { 1, null, 3 };
        int sum = 0;
        foreach (int? x in array)
            sum += x ?? 100;
        Console.WriteLine(sum);
        DayOfWeek? day = DayOfWeek.Monday;
        Console.WriteLine("{0} {1}", day, S(day + 1));
    }
}
