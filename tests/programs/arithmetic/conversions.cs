// Conversions between integers and floating point in the ranges where their results are defined.
using System;

static class Program
{
    static void Main()
    {
        double[] values = { 0, 0.5, -0.5, 1.999, -1.999, 127.9, 255.9, -128.9, 65535.9, 2147483647.5, -2147483648.5, 4294967295.5, 9007199254740993.0 };
        foreach (double d in values)
        {
            string line = d.ToString("R", System.Globalization.CultureInfo.InvariantCulture) + ":";
            line += " long " + (long)d;
            if (d > -2147483649.0 && d < 2147483648.0)
                line += " int " + (int)d;
            if (d > -1 && d < 4294967296.0)
                line += " uint " + (uint)d;
            if (d > -1)
                line += " ulong " + (ulong)d;
            if (d > -32769 && d < 32768)
                line += " short " + (short)d;
            if (d > -1 && d < 65536)
                line += " ushort " + (ushort)d;
            if (d > -129 && d < 128)
                line += " sbyte " + (sbyte)d;
            if (d > -1 && d < 256)
                line += " byte " + (byte)d;
            Console.WriteLine(line);
        }
        ulong large = 18446744073709551615, half = 9223372036854775808, odd = 9223372036854775809;
        Console.WriteLine("{0} {1} {2}", (double)large == 18446744073709551616.0, (double)half == 9223372036854775808.0, (double)odd == (double)half);
        Console.WriteLine("{0} {1}", (ulong)9223372036854775808.0, (ulong)18446744073709549568.0);
        Console.WriteLine("{0} {1}", (float)16777217 == 16777216f, (float)(double)16777219 == 16777220f);
        uint u = 4294967295;
        Console.WriteLine("{0} {1} {2}", (double)u == 4294967295.0, (float)u == 4294967296f, (double)-1 == -1.0);
        long l = -9007199254740993;
        Console.WriteLine((double)l == -9007199254740992.0);
        Console.WriteLine("{0} {1} {2}", (int)3.99f, (int)-3.99f, (long)1e15f);
        Console.WriteLine("{0} {1}", (decimal)1.1, (double)1.1m == 1.1);
        Console.WriteLine("{0} {1} {2} {3}", Convert.ToInt32(2.5), Convert.ToInt32(3.5), Convert.ToInt32(-2.5), Convert.ToInt32("42"));
        double[] halves = { 2.5, -3.5 };
        Console.WriteLine("{0} {1} {2} {3}", Math.Round(halves[0]), Math.Round(halves[1]), Math.Floor(-1.5), Math.Ceiling(-1.5));
        Console.WriteLine("{0} {1}", Math.Round(2.5, MidpointRounding.AwayFromZero), Math.Truncate(-1.9));
        foreach (string text in new[] { "300", "-1", "x", "" })
        {
            try
            {
                Console.WriteLine(Convert.ToByte(text));
            }
            catch (Exception e)
            {
                Console.WriteLine("'{0}' {1}", text, e.GetType().Name);
            }
        }
    }
}
