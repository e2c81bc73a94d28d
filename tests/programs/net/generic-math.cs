// Static abstract members of interfaces: operators, constants and parsing of numbers, user-made types among them, through type parameters.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Numerics;

readonly record struct Modular(int Value) : IAdditionOperators<Modular, Modular, Modular>, IMultiplyOperators<Modular, Modular, Modular>,
    IAdditiveIdentity<Modular, Modular>, IMultiplicativeIdentity<Modular, Modular>
{
    const int P = 97;
    public static Modular operator +(Modular a, Modular b) => new((a.Value + b.Value) % P);
    public static Modular operator *(Modular a, Modular b) => new(a.Value * b.Value % P);
    public static Modular AdditiveIdentity => new(0);
    public static Modular MultiplicativeIdentity => new(1);
}

interface IShape
{
    static abstract string Name { get; }
    static virtual int Sides => 0;
    static virtual string Describe() => "shape";
}

struct Circle : IShape { public static string Name => "circle"; }
class Square : IShape { public static string Name => "square"; public static int Sides => 4; public static string Describe() => "a right one"; }

static class Test
{
    static T Sum<T>(IEnumerable<T> all) where T : IAdditionOperators<T, T, T>, IAdditiveIdentity<T, T>
    {
        T sum = T.AdditiveIdentity;
        foreach (T one in all) sum += one;
        return sum;
    }

    static T Power<T>(T b, int n) where T : IMultiplyOperators<T, T, T>, IMultiplicativeIdentity<T, T>
    {
        T result = T.MultiplicativeIdentity;
        for (int i = 0; i < n; i++) result *= b;
        return result;
    }

    static T Parsed<T>(string text) where T : IParsable<T> => T.Parse(text, CultureInfo.InvariantCulture);

    static string Limits<T>() where T : IMinMaxValue<T>, INumber<T> => $"{typeof(T).Name} {T.MinValue} .. {T.MaxValue}, {T.Clamp(T.MaxValue, T.Zero, T.One)}";

    static string Shape<T>() where T : IShape => $"{T.Name} {T.Sides} {T.Describe()}";

    static void Main()
    {
        Console.WriteLine(Sum(new[] { 1, 2, 3 }));
        Console.WriteLine(Sum(new[] { 0.5, 0.25 }));
        Console.WriteLine(Sum(new[] { 1.5m, 2.5m }));
        Console.WriteLine(Sum(new[] { new BigInteger(1) << 70, BigInteger.One }));
        Console.WriteLine(Sum(new[] { new Modular(90), new Modular(10) }));
        Console.WriteLine(Power(3L, 30));
        Console.WriteLine(Power(new Modular(5), 96));
        Console.WriteLine(Parsed<int>("42") + Parsed<double>("0.5"));
        Console.WriteLine(Parsed<DateTime>("2024-02-29").ToString("yyyy/MM/dd", CultureInfo.InvariantCulture));
        Console.WriteLine(Limits<byte>());
        Console.WriteLine(Limits<short>());
        Console.WriteLine(Limits<long>());
        Console.WriteLine(Limits<Int128>());
        Console.WriteLine(Limits<UInt128>());
        Console.WriteLine(int.CreateSaturating(1e20) + " " + byte.CreateTruncating(0x1234) + " " + Half.CreateChecked(1.5));
        try { sbyte.CreateChecked(200); } catch (OverflowException e) { Console.WriteLine(e.GetType().Name); }
        Console.WriteLine(BitOperations.PopCount(0xF0F0u) + " " + int.LeadingZeroCount(1) + " " + long.Log2(1L << 40));
        Console.WriteLine(Shape<Circle>());
        Console.WriteLine(Shape<Square>());
    }
}
