// Comparisons with NaN, infinities and signed zero, as values and as branches, float and double.
using System;

static class Program
{
    static string D(double a, double b)
    {
        string branches = "";
        if (a < b) branches += "<";
        if (a <= b) branches += "(<=)";
        if (a == b) branches += "=";
        if (a != b) branches += "!";
        if (a >= b) branches += "(>=)";
        if (a > b) branches += ">";
        if (!(a < b)) branches += " nlt";
        if (!(a >= b)) branches += " nge";
        bool lt = a < b, le = a <= b, eq = a == b, ne = a != b, ge = a >= b, gt = a > b;
        return branches + " " + (lt ? 1 : 0) + (le ? 1 : 0) + (eq ? 1 : 0) + (ne ? 1 : 0) + (ge ? 1 : 0) + (gt ? 1 : 0);
    }

    static string F(float a, float b)
    {
        bool lt = a < b, le = a <= b, eq = a == b, ne = a != b, ge = a >= b, gt = a > b;
        return "" + (lt ? 1 : 0) + (le ? 1 : 0) + (eq ? 1 : 0) + (ne ? 1 : 0) + (ge ? 1 : 0) + (gt ? 1 : 0);
    }

    static void Main()
    {
        double nan = double.NaN, inf = double.PositiveInfinity, zero = 0.0, negativeZero = -0.0;
        Console.WriteLine("1,2       " + D(1, 2) + " " + F(1, 2));
        Console.WriteLine("2,1       " + D(2, 1) + " " + F(2, 1));
        Console.WriteLine("1,1       " + D(1, 1) + " " + F(1, 1));
        Console.WriteLine("nan,1     " + D(nan, 1) + " " + F(float.NaN, 1));
        Console.WriteLine("1,nan     " + D(1, nan) + " " + F(1, float.NaN));
        Console.WriteLine("nan,nan   " + D(nan, nan) + " " + F(float.NaN, float.NaN));
        Console.WriteLine("inf,1     " + D(inf, 1));
        Console.WriteLine("-inf,inf  " + D(-inf, inf));
        Console.WriteLine("0,-0      " + D(zero, negativeZero));

        Console.WriteLine("{0} {1} {2}", nan.Equals(nan), nan == nan, nan.CompareTo(1.0));
        Console.WriteLine("{0} {1}", double.IsNegativeInfinity(1 / negativeZero), double.IsPositiveInfinity(1 / zero));
        Console.WriteLine("{0} {1}", Math.Sign(-2.5), Math.Abs(-2.5) == 2.5);
        Console.WriteLine("{0} {1}", double.IsNaN(Math.Max(nan, 1)), double.IsNaN(Math.Min(1, nan)));
        Console.WriteLine("{0} {1}", BitConverter.DoubleToInt64Bits(negativeZero).ToString("x"), BitConverter.DoubleToInt64Bits(1.5).ToString("x"));
        float tenth = 0.1f;
        Console.WriteLine("{0} {1}", (double)tenth == 0.1, (float)0.1 == tenth);
        Console.WriteLine("{0} {1}", float.MaxValue * 2f == float.PositiveInfinity, double.Epsilon / 2 == 0);
        int count = 0;
        for (double d = 0; d < 1; d += 0.1)
            count++;
        Console.WriteLine(count);
        while (!(nan > 0) && count < 13)
            count++;
        Console.WriteLine(count);
    }
}
