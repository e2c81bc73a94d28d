using System;

// Functions of Math and MathF, by their exact results.
class Mathematics
{
    static void Show(params double[] values) { foreach (double v in values) Console.Write($"{v:R} "); Console.WriteLine(); }
    static void ShowF(params float[] values) { foreach (float v in values) Console.Write($"{v:R} "); Console.WriteLine(); }

    static void Main()
    {
        foreach (double x in new[] { 0.0, 0.5, 1.0, -0.25, 0.9999 })
        {
            Show(Math.Sin(x), Math.Cos(x), Math.Tan(x), Math.Asin(x), Math.Acos(x), Math.Atan(x), Math.Sinh(x), Math.Cosh(x), Math.Tanh(x));
            ShowF(MathF.Sin((float)x), MathF.Cos((float)x), MathF.Tan((float)x), MathF.Asin((float)x), MathF.Acos((float)x), MathF.Atan((float)x));
            Show(Math.Exp(x), Math.Pow(x, 3), Math.Cbrt(x), Math.Atan2(x, 2), Math.Asinh(x), Math.FusedMultiplyAdd(x, 2, 3), Math.SinCos(x).Sin, Math.SinCos(x).Cos);
        }
        Show(Math.Log(10), Math.Log2(10), Math.Log10(10), Math.Log(8, 2), Math.Acosh(2), Math.Atanh(0.5), Math.Sqrt(2), Math.IEEERemainder(5, 3));
        ShowF(MathF.Log(10), MathF.Log2(10), MathF.Log10(10), MathF.Cbrt(27), MathF.Pow(2, 0.5f), MathF.Exp(1), MathF.Sqrt(2), MathF.FusedMultiplyAdd(2, 3, 4));
        Show(Math.Floor(-1.5), Math.Ceiling(-1.5), Math.Truncate(-1.5), Math.Round(2.5), Math.Round(3.5), Math.Round(2.345, 2), Math.Round(2.5, MidpointRounding.AwayFromZero));
        Show(Math.Max(1, double.NaN), Math.Min(-0.0, 0.0), Math.CopySign(1, -0.0), Math.BitIncrement(1), Math.ScaleB(1.5, 4), Math.ILogB(1000), Math.Abs(-3.5));
        Show(Math.Sin(double.PositiveInfinity), Math.Pow(0, -1), Math.Log(-1), Math.Exp(1000), 5.5 % 2, -5.5 % 2);
        Console.WriteLine($"{Math.DivRem(17, 5)} {Math.Clamp(11, 0, 10)} {Math.BigMul(int.MaxValue, int.MaxValue)} {Math.Sign(-2.5)} {Math.Abs(-7)}");
        Console.WriteLine($"{double.Hypot(3, 4)} {double.RootN(27, 3)} {double.Exp2(3)} {double.SinPi(0.5)} {float.Lerp(1, 3, 0.5f)} {decimal.Round(2.5m)} {(int)Half.Parse("3.5")}");
        try { Math.Abs(int.MinValue); } catch (OverflowException e) { Console.WriteLine(e.Message); }
        try { Math.Clamp(1, 3, 2); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
    }
}
