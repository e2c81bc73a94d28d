// System.Math: results that do not depend on the last bit, and the error cases.
using System;
using System.Globalization;

static class Program
{
    static void Show(string name, double d)
    {
        Console.WriteLine(name + " " + d.ToString("F6", CultureInfo.InvariantCulture));
    }

    static void Main()
    {
        Show("sqrt", Math.Sqrt(2));
        Show("pow", Math.Pow(2, 0.5));
        Show("pow", Math.Pow(-2, 3));
        Show("exp", Math.Exp(1));
        Show("log", Math.Log(10));
        Show("log10", Math.Log10(1000));
        Show("log2", Math.Log(1024, 2));
        Show("sin", Math.Sin(1));
        Show("cos", Math.Cos(1));
        Show("tan", Math.Tan(1));
        Show("asin", Math.Asin(0.5));
        Show("acos", Math.Acos(0.5));
        Show("atan", Math.Atan(0.5));
        Show("atan2", Math.Atan2(-1, -1));
        Show("sinh", Math.Sinh(1));
        Show("cosh", Math.Cosh(1));
        Show("tanh", Math.Tanh(1));
        Show("remainder", Math.IEEERemainder(10, 3));
        Console.WriteLine("{0} {1} {2}", double.IsNaN(Math.Sqrt(-1)), double.IsNaN(Math.Log(-1)), double.IsNegativeInfinity(Math.Log(0)));
        Console.WriteLine("{0} {1} {2} {3}", Math.Max(3, -3), Math.Min(3L, -3L), Math.Abs(-7), Math.Sign(-7));
        int remainder;
        Console.WriteLine("{0} {1}", Math.DivRem(17, 5, out remainder), remainder);
        Console.WriteLine("{0}", Math.BigMul(int.MaxValue, int.MaxValue));
        try
        {
            Math.Abs(int.MinValue);
        }
        catch (OverflowException)
        {
            Console.WriteLine("Abs overflows");
        }
        try
        {
            Math.Sign(double.NaN);
        }
        catch (ArithmeticException)
        {
            Console.WriteLine("Sign of NaN");
        }
        double sum = 0;
        for (int i = 0; i < 1000; i++)
            sum += Math.Sin(i) * Math.Sin(i) + Math.Cos(i) * Math.Cos(i);
        Show("sum", sum);
    }
}
