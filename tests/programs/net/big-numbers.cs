// BigInteger, Int128, UInt128, Half, decimal and Complex.
using System;
using System.Globalization;
using System.Numerics;

CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
BigInteger factorial = 1;
for (int i = 2; i <= 60; i++) factorial *= i;
Console.WriteLine(factorial);
Console.WriteLine(BigInteger.Pow(2, 521) - 1);
Console.WriteLine(BigInteger.ModPow(3, BigInteger.Parse("123456789012345678901234567890"), 1000000007) + " " + BigInteger.GreatestCommonDivisor(factorial, 1L << 40));
Console.WriteLine(BigInteger.DivRem(factorial, 1234567891, out var rest) % 1000 + " " + rest + " " + (-factorial >> 100) + " " + BigInteger.Parse("0FF", NumberStyles.HexNumber));
Console.WriteLine(factorial.GetBitLength() + " " + (double)factorial + " " + BigInteger.Log10(factorial).ToString("F6") + " " + factorial.ToByteArray().Length + $" {factorial:E3} {new BigInteger(-255):X}");
Int128 wide = Int128.MaxValue / 3;
Console.WriteLine(wide + " " + (wide * 2 - 1) % 1000 + " " + -wide / (1L << 50) + " " + (UInt128.MaxValue >> 64) + " " + UInt128.MaxValue / 7);
try { _ = checked(Int128.MaxValue + Int128.Parse("1")); } catch (OverflowException) { Console.WriteLine("overflow"); }
Console.WriteLine((long)(Int128)(-5) + " " + (double)Int128.MinValue + " " + Int128.PopCount(Int128.MaxValue) + " " + (Int128)1e30 + " " + $"{UInt128.MaxValue:X}");
Console.WriteLine(Math.BigMul(ulong.MaxValue, ulong.MaxValue, out ulong low) + " " + low + " " + Math.BigMul(int.MinValue, int.MaxValue));
Console.WriteLine((Half)65504 + " " + (Half)1e6 + " " + (Half)(1 / 3.0) + " " + (float)Half.Epsilon + " " + BitConverter.HalfToInt16Bits((Half)1));
Console.WriteLine(1m / 3 + " " + decimal.Round(2.5m) + " " + decimal.Round(2.55m, 1, MidpointRounding.AwayFromZero) + " " + 79228162514264337593543950335m % 7 + " " + (decimal)1e-10);
Console.WriteLine(Complex.Sqrt(-4) + " " + new Complex(1, 2) * new Complex(3, -1) + " " + Complex.Abs(new Complex(3, 4)));
Console.WriteLine(Math.FusedMultiplyAdd(0.1, 10, -1) + " " + Math.ILogB(1000) + " " + Math.BitIncrement(1.0) + " " + MathF.Sqrt(2));
