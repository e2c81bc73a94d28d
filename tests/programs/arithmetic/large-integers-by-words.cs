// mcs: -r:System.Numerics.dll
// Sums, differences, products, quotients and decimal digits of large integers of every length are those of loops over bytes and digits.
using System;
using System.Globalization;
using System.Numerics;
using System.Text;

static class Program
{
    static readonly Random random = new Random(31);
    static int checks;

    static void Same(string what, BigInteger got, BigInteger wanted)
    {
        checks++;
        if (got != wanted) throw new Exception(what + ": " + got.ToString("x") + " and not " + wanted.ToString("x"));
    }

    // Random words, with many whose bits are all set or clear, so that carries go far.
    static byte[] Magnitude(int words)
    {
        var bytes = new byte[4 * words + 1];
        random.NextBytes(bytes);
        bytes[4 * words] = 0;
        for (int word = 0; word < words; word++)
            if (random.Next(3) == 0)
                for (int i = 0; i < 4; i++)
                    bytes[4 * word + i] = random.Next(2) == 0 ? (byte)0 : (byte)255;
        if (random.Next(4) == 0)
            for (int i = 0; i < 4 * words; i++)
                bytes[i] = 255;
        return bytes;
    }

    static byte[] Sum(byte[] a, byte[] b)
    {
        var sum = new byte[Math.Max(a.Length, b.Length) + 1];
        int carry = 0;
        for (int i = 0; i < sum.Length; i++)
        {
            carry += (i < a.Length ? a[i] : 0) + (i < b.Length ? b[i] : 0);
            sum[i] = (byte)carry;
            carry >>= 8;
        }
        return sum;
    }

    static byte[] Product(byte[] a, byte[] b)
    {
        var product = new byte[a.Length + b.Length];
        for (int i = 0; i < a.Length; i++)
        {
            int carry = 0;
            for (int k = 0; k < b.Length; k++)
            {
                carry += product[i + k] + a[i] * b[k];
                product[i + k] = (byte)carry;
                carry >>= 8;
            }
            product[i + b.Length] = (byte)carry;
        }
        return product;
    }

    static void Lengths(int words, int others)
    {
        byte[] x = Magnitude(words), y = Magnitude(others);
        BigInteger a = new BigInteger(x), b = new BigInteger(y), one = BigInteger.One;
        string what = words + " and " + others + " words";
        BigInteger sum = new BigInteger(Sum(x, y)), product = new BigInteger(Product(x, y));
        Same("sum of " + what, a + b, sum);
        Same("difference of " + what, sum - b, a);
        Same("other difference of " + what, b - sum, -a);
        Same("product of " + what, a * b, product);
        Same("negative product of " + what, -a * b, -product);
        Same("square of " + what, a * a, new BigInteger(Product(x, x)));
        Same("other square of " + what, BigInteger.Pow(b, 2), new BigInteger(Product(y, y)));
        if (!b.IsZero)
        {
            Same("quotient of " + what, product / b, a);
            BigInteger rest, more = b > one ? new BigInteger(random.Next()) % b : 0;
            Same("quotient with rest of " + what, BigInteger.DivRem(product + more, b, out rest), a);
            Same("rest of " + what, rest, more);
            Same("rest of a sum of " + what, (a + b) % b, a % b);
        }
        int small = random.Next();
        Same("small product of " + what, a * small, new BigInteger(Product(x, BitConverter.GetBytes(small))));
        Same("small sum of " + what, a + small - small, a);
    }

    static void Digits(int length)
    {
        var text = new StringBuilder();
        for (int i = 0; i < length; i++)
            text.Append((char)('0' + (random.Next(4) == 0 ? 0 : random.Next(10))));
        BigInteger wanted = BigInteger.Zero;
        foreach (char c in text.ToString())
            wanted = wanted * 10 + (c - '0');
        Same("digits of " + length, BigInteger.Parse(text.ToString()), wanted);
        Same("negative digits of " + length, BigInteger.Parse("-" + text), -wanted);
        Same("spaces of " + length, BigInteger.Parse("  " + text + " "), wanted);
        Same("zeros of " + length, BigInteger.Parse("000" + text + ".00", NumberStyles.Any, CultureInfo.InvariantCulture), wanted);
        Same("exponent of " + length, BigInteger.Parse(text + "e25", NumberStyles.Any, CultureInfo.InvariantCulture), wanted * BigInteger.Pow(10, 25));
        Same("back from " + length, BigInteger.Parse(wanted.ToString()), wanted);
        BigInteger got;
        Same("fraction of " + length, BigInteger.TryParse("-" + text + ".01", NumberStyles.Any, CultureInfo.InvariantCulture, out got) ? 1 : 0, 0);
        Same("letter after " + length, BigInteger.TryParse(text + "x", out got) ? 1 : 0, 0);
    }

    static void Main()
    {
        for (int words = 0; words <= 40; words++)
            for (int others = 0; others <= 40; others += random.Next(1, 6))
                Lengths(words, others);
        foreach (int words in new[] { 61, 62, 63, 64, 65, 66, 127, 128, 129, 200, 243 })
            foreach (int others in new[] { 1, 2, 31, 32, 33, 62, 63, 64, 65, 100, 243 })
                Lengths(words, others);
        // One number much longer than the other, and one too long to be done at once.
        foreach (int words in new[] { 9000, 16384, 16385, 70000 })
        {
            BigInteger a = new BigInteger(Magnitude(words)), b = new BigInteger(Magnitude(60)) + 1, c = new BigInteger(Magnitude(3));
            Same("long product", a * (b + c), a * b + a * c);
            Same("long quotient", a * b / b, a);
            Same("long sum", (a + b) * (a + b) - a * a, b * (a + a + b));
        }
        for (int length = 1; length <= 200; length++)
            Digits(length);
        Digits(3000);
        foreach (string text in new[] { "2147483647", "2147483648", "-2147483647", "-2147483648", "-2147483649", "4294967295", "4294967296", "0", "-0", "9223372036854775808" })
            Console.WriteLine("{0} {1}", BigInteger.Parse(text), BigInteger.Parse(text).GetHashCode() == (BigInteger.Parse(text + "0") / 10).GetHashCode());
        BigInteger prime = (BigInteger.One << 521) - 1;
        for (int i = 0; i < 20; i++)
        {
            BigInteger number = new BigInteger(Magnitude(random.Next(1, 20))) + 2;
            Same("little theorem", BigInteger.ModPow(number, prime - 1, prime), number % prime == 0 ? 0 : 1);
        }
        Console.WriteLine("{0} checks", checks);
    }
}
