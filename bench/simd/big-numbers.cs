// Products of large integers, and their decimal digits.
using System;
using System.Numerics;

static class BigNumbers
{
    static void Main()
    {
        BigInteger product = BigInteger.One;
        for (int i = 1; i <= 3000; i++)
            product *= i;
        BigInteger square = BigInteger.Zero;
        for (int round = 0; round < 200; round++)
            square = product * (product + round);
        string digits = product.ToString();
        BigInteger again = BigInteger.Parse(digits);
        BigInteger power = BigInteger.ModPow(3, product >> 24000, (BigInteger.One << 2048) - 1);
        Console.WriteLine("{0} {1} {2} {3}", digits.Length, again == product, (square % 1000003), power % 1000003);
    }
}
