// System.Numerics.Vectors: results equal to scalar arithmetic, whatever the hardware width.
// mcs: -r:System.Numerics.dll -r:System.Numerics.Vectors.dll
using System;
using System.Numerics;

static class Program
{
    static void Main()
    {
        Vector4 a = new Vector4(1, 2, 3, 4), b = new Vector4(0.5f, -1, 2, 8);
        Console.WriteLine("{0} {1} {2} {3}", a + b == new Vector4(1.5f, 1, 5, 12), Vector4.Dot(a, b) == 36.5f, (a * b).W == 32, (a / b).Z == 1.5f);
        Console.WriteLine("{0} {1} {2}", Vector4.Min(a, b).X, Vector4.Max(a, b).W, Vector4.Abs(-a) == a);
        Vector3 x = Vector3.UnitX, y = Vector3.UnitY;
        Console.WriteLine("{0} {1}", Vector3.Cross(x, y) == Vector3.UnitZ, new Vector3(3, 4, 0).Length());
        Vector2 v = new Vector2(3, 4);
        Console.WriteLine("{0} {1}", v.LengthSquared(), Vector2.Distance(v, Vector2.Zero));
        Matrix4x4 m = Matrix4x4.CreateScale(2) * Matrix4x4.CreateTranslation(1, 2, 3);
        Console.WriteLine(Vector3.Transform(new Vector3(1, 1, 1), m) == new Vector3(3, 4, 5));
        Matrix4x4 inverse;
        Console.WriteLine("{0} {1}", Matrix4x4.Invert(m, out inverse), (m * inverse).IsIdentity);
        Quaternion q = Quaternion.CreateFromAxisAngle(Vector3.UnitZ, (float)Math.PI);
        Vector3 rotated = Vector3.Transform(x, q);
        Console.WriteLine(Math.Abs(rotated.X + 1) < 1e-6);

        int n = Vector<int>.Count;
        int[] left = new int[n * 4], right = new int[n * 4], sum = new int[n * 4];
        for (int i = 0; i < left.Length; i++)
        {
            left[i] = i * 3;
            right[i] = 100 - i;
        }
        bool right1 = true;
        for (int i = 0; i < left.Length; i += n)
            (new Vector<int>(left, i) + new Vector<int>(right, i) * 2).CopyTo(sum, i);
        for (int i = 0; i < sum.Length; i++)
            right1 &= sum[i] == left[i] + right[i] * 2;
        Console.WriteLine(right1);
        Vector<float> f = new Vector<float>(2.25f);
        Console.WriteLine("{0} {1} {2}", Vector.SquareRoot(f)[0], Vector.Dot(f, Vector<float>.One) == 2.25f * Vector<float>.Count, Vector.GreaterThanAny(f, Vector<float>.One));
        Vector<byte> bytes = new Vector<byte>(250) + new Vector<byte>(10);
        Console.WriteLine("{0} {1}", bytes[0], Vector.EqualsAll(bytes, new Vector<byte>(4)));
        Vector<int> chosen = Vector.ConditionalSelect(Vector.LessThan(new Vector<int>(left), new Vector<int>(4)), Vector<int>.One, Vector<int>.Zero);
        Console.WriteLine("{0} {1} {2}", chosen[0], chosen[1], chosen[n - 1]);
        Console.WriteLine("{0} {1}", Vector<double>.Count * 8 == Vector<byte>.Count, Vector.AsVectorInt32(new Vector<float>(1f))[0].ToString("x"));
        Complex c = Complex.ImaginaryOne * Complex.ImaginaryOne;
        Console.WriteLine("{0} {1}", c.Real, BigInteger.Pow(3, 50));
    }
}
