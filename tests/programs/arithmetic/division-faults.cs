// Division by zero and INT_MIN / -1 raise; a remainder INT_MIN % -1 raises or gives 0 and is not shown.
using System;

static class Program
{
    static void Try(string name, Func<object> f)
    {
        try
        {
            Console.WriteLine("{0} = {1}", name, f());
        }
        catch (ArithmeticException e)
        {
            Console.WriteLine("{0}: {1}", name, e.GetType().Name);
        }
    }

    static int inTry(int a, int b)
    {
        try
        {
            return a / b;
        }
        catch (DivideByZeroException)
        {
            return -1;
        }
        finally
        {
            Console.WriteLine("finally {0}/{1}", a, b);
        }
    }

    static void Main()
    {
        int zero = 0, minusOne = -1, imin = int.MinValue;
        long lzero = 0, lminusOne = -1, lmin = long.MinValue;
        uint uzero = 0;
        ulong ulzero = 0;
        double dzero = 0;
        Try("1 / 0", () => 1 / zero);
        Try("1 % 0", () => 1 % zero);
        Try("0 / 0", () => 0 / zero);
        Try("1L / 0", () => 1L / lzero);
        Try("1L % 0", () => 1L % lzero);
        Try("1u / 0", () => 1u / uzero);
        Try("1u % 0", () => 1u % uzero);
        Try("1ul / 0", () => 1ul / ulzero);
        Try("1ul % 0", () => 1ul % ulzero);
        Try("int.Min / -1", () => imin / minusOne);
        Try("long.Min / -1", () => lmin / lminusOne);
        Try("5 / -1", () => 5 / minusOne);
        Try("5 % -1", () => 5 % minusOne);
        Try("1m / 0", () => 1m / zero);
        Try("1.0 / 0", () => double.IsPositiveInfinity(1.0 / dzero));
        Try("-1.0 / 0", () => double.IsNegativeInfinity(-1.0 / dzero));
        Try("0.0 / 0", () => double.IsNaN(0.0 / dzero));
        Try("5.5 % 2", () => 5.5 % 2.0 == 1.5);
        Try("-5.5 % 2", () => -5.5 % 2.0 == -1.5);
        Try("1.0 % 0", () => double.IsNaN(1.0 % dzero));
        Console.WriteLine(inTry(7, 2));
        Console.WriteLine(inTry(7, 0));
        Console.WriteLine(inTry(7, -2));
    }
}
