// env: DOTNET_EnableAVX=0
// Vectors of 16 bytes and others: Vector64 to Vector512, Vector of T, Vector2 to Vector4, Quaternion, Plane, matrices;
// bits of all lanes, loads, stores, shuffles, conversions, boxed and generic use.
using System;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics;
using System.Runtime.Intrinsics.X86;

static class Vectors
{
    static ulong state = 88172645463325252;
    static ulong Next() { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state; }
    static float Single() => (int)(Next() >> 40) / 65536f - 128;

    static string Bits<T>(T value) where T : struct
    {
        var bytes = MemoryMarshal.AsBytes(MemoryMarshal.CreateReadOnlySpan(ref value, 1));
        ulong hash = 14695981039346656037;
        foreach (byte b in bytes) hash = (hash ^ b) * 1099511628211;
        return hash.ToString("x16");
    }

    static Vector128<T> Random<T>() where T : struct => Vector128.Create(Next(), Next()).As<ulong, T>();

    static void Integers<T>() where T : struct, INumber<T>, IBinaryInteger<T>
    {
        Vector128<T> a = Random<T>(), b = Random<T>();
        string line = typeof(T).Name + ":";
        line += " " + Bits(a + b) + " " + Bits(a - b) + " " + Bits(a * b) + " " + Bits(a & b) + " " + Bits(a | b) + " " + Bits(a ^ b) + " " + Bits(~a) + " " + Bits(-a);
        line += " " + Bits(Vector128.Max(a, b)) + " " + Bits(Vector128.Min(a, b)) + " " + Bits(Vector128.Abs(a)) + " " + Bits(Vector128.AndNot(a, b)) + " " + Bits(a << 3) + " " + Bits(a >> 2) + " " + Bits(a >>> 1);
        line += " " + Vector128.Sum(a) + " " + Vector128.Dot(a, b) + " " + Vector128.EqualsAny(a, a + Vector128<T>.One) + " " + Vector128.GreaterThanAll(a, b) + " " + Bits(Vector128.LessThan(a, b)) + " " + Bits(Vector128.ConditionalSelect(Vector128.Equals(a, b), a, b));
        line += " " + a.GetElement(1) + " " + Bits(a.WithElement(0, T.One)) + " " + a.ToScalar() + " " + a.ExtractMostSignificantBits() + " " + Bits(a.GetLower()) + " " + Bits(Vector256.Create(a, b)) + " " + Bits(a.ToVector256().ToVector512()) + " " + (a == b) + " " + a.Equals((object)a);
        Console.WriteLine(line);
        Vector<T> c = new Vector<T>(a.GetElement(0)), d = new Vector<T>(b.GetElement(0));
        Console.WriteLine(" " + (c + d)[0] + " " + (c * d)[Vector<T>.Count - 1] + " " + Vector.Max(c, d)[0] + " " + Vector.GreaterThanAny(c, d) + " " + Vector.Sum(c - c) + " " + (c ^ c).Equals(Vector<T>.Zero));
    }

    static void Floats<T>() where T : struct, IFloatingPointIeee754<T>
    {
        Vector128<T> a = Vector128.Create(T.CreateTruncating(Single())), b = Vector128.Create(T.CreateTruncating(Single())).WithElement(1, T.NaN);
        Console.WriteLine(typeof(T).Name + ": " + Bits(a + b) + " " + Bits(a / b) + " " + Bits(Vector128.Max(a, b)) + " " + Bits(Vector128.Min(b, a)) + " " + Bits(Vector128.Sqrt(Vector128.Abs(a))) + " " + Bits(Vector128.Equals(b, b)) + " " + Vector128.Sum(a) + " " + Bits(-b) + " " + Bits(Vector128.MaxNumber(a, b)) + " " + Vector128.IsNaN(b));
    }

    static void Numerics()
    {
        Vector2 a2 = new(Single(), Single()), b2 = new(Single(), Single());
        Vector3 a3 = new(Single(), Single(), Single()), b3 = new(a2, Single());
        Vector4 a4 = new(Single(), Single(), Single(), Single()), b4 = new(a3, Single());
        Console.WriteLine(Bits(a2 + b2) + " " + Bits(a2 * 3) + " " + Bits(a2 / b2) + " " + Bits(Vector2.Normalize(a2)) + " " + Bits(Vector2.Reflect(a2, b2)) + " " + Bits(Vector2.Clamp(a2, b2, Vector2.One)) + " " + Vector2.Dot(a2, b2) + " " + a2.Length() + " " + Vector2.DistanceSquared(a2, b2) + " " + Bits(Vector2.Lerp(a2, b2, 0.25f)) + " " + (a2 == b2) + " " + a2);
        Console.WriteLine(Bits(a3 + b3) + " " + Bits(Vector3.Cross(a3, b3)) + " " + Bits(Vector3.Normalize(a3)) + " " + Bits(Vector3.Min(a3, b3)) + " " + Vector3.Dot(a3, b3) + " " + a3.LengthSquared() + " " + Bits(Vector3.Transform(a3, Quaternion.CreateFromYawPitchRoll(0.5f, 1, 2))) + " " + Bits(Vector3.SquareRoot(Vector3.Abs(b3))) + " " + a3[2] + " " + b3);
        Console.WriteLine(Bits(a4 - b4) + " " + Bits(a4 * b4) + " " + Bits(Vector4.Transform(a4, Matrix4x4.CreateRotationX(0.3f))) + " " + Vector4.Distance(a4, b4) + " " + Bits(Vector4.Negate(a4)) + " " + a4.W + " " + a4.Equals(a4) + " " + a4);
        Matrix4x4 m = Matrix4x4.CreateFromYawPitchRoll(0.1f, 0.2f, 0.3f) * Matrix4x4.CreateTranslation(a3) * Matrix4x4.CreateScale(2, 3, 4);
        Matrix4x4.Invert(m, out Matrix4x4 inverse);
        Matrix4x4.Decompose(m, out Vector3 scale, out Quaternion rotation, out Vector3 translation);
        Console.WriteLine(Bits(m) + " " + Bits(inverse) + " " + m.GetDeterminant() + " " + Bits(Matrix4x4.Transpose(m)) + " " + Bits(scale) + " " + Bits(rotation) + " " + Bits(translation) + " " + m.M43 + " " + m[1, 2]);
        Matrix3x2 flat = Matrix3x2.CreateRotation(0.7f, a2) * Matrix3x2.CreateSkew(0.1f, 0.2f);
        Console.WriteLine(Bits(flat) + " " + Bits(Vector2.Transform(a2, flat)) + " " + flat.GetDeterminant() + " " + Bits(Quaternion.Slerp(Quaternion.Identity, rotation, 0.3f)) + " " + Bits(Quaternion.Concatenate(rotation, rotation)) + " " + Bits(Plane.Normalize(new Plane(a3, 4))) + " " + Bits(a4.AsVector128()) + " " + Bits(a4.AsVector128().AsVector3()) + " " + Bits(a2.AsVector4Unsafe() * new Vector4(1, 1, 0, 0)));
    }

    static Vector4 AsVector4Unsafe(this Vector2 v) => new(v, 0, 0);

    struct Holder { public byte Before; public Vector3 Three; public Vector2 Two; public byte After; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector128<int> Passed(Vector128<int> a, Vector2 b, Vector3 c, in Vector4 d, ref Vector256<long> e)
    {
        e += Vector256<long>.One;
        return a + Vector128.Create((int)b.X, (int)c.Z, (int)d.W, (int)e.GetElement(3));
    }

    static void Main()
    {
        Console.WriteLine(Vector128.IsHardwareAccelerated + " " + Vector256.IsHardwareAccelerated + " " + Vector.IsHardwareAccelerated + " " + Avx2.IsSupported + " " + Vector<byte>.Count + " " + typeof(Avx2).GetProperty("IsSupported").GetValue(null) + " " + typeof(Vector128).GetProperty("IsHardwareAccelerated").GetValue(null) + " " + Vector128<char>.IsSupported + " " + Vector128<nint>.IsSupported);
        Integers<byte>(); Integers<sbyte>(); Integers<short>(); Integers<ushort>(); Integers<int>(); Integers<uint>(); Integers<long>(); Integers<ulong>();
        Floats<float>(); Floats<double>();
        Numerics();
        int[] numbers = new int[40];
        for (int i = 0; i < numbers.Length; i++) numbers[i] = (int)Next();
        Vector256<int> loaded = Vector256.LoadUnsafe(ref numbers[0], 3);
        loaded.CopyTo(numbers, 20);
        Vector128.Create((ReadOnlySpan<int>)numbers.AsSpan(5)).StoreUnsafe(ref numbers[0], 36);
        Console.WriteLine(Bits(loaded) + " " + numbers[20] + " " + numbers[39] + " " + new Vector<int>(numbers, 1)[1]);
        Vector128<byte> bytes = Random<byte>();
        Console.WriteLine(Bits(Vector128.Shuffle(bytes, Vector128.Create((byte)15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 200))) + " " + Bits(Vector128.Narrow(Random<int>(), Random<int>())) + " " + Bits(Vector128.WidenUpper(Random<short>())) + " " + Bits(Vector128.ConvertToInt32(Vector128.Create(1.5f, -2.5f, 3e9f, float.NaN))) + " " + Bits(Vector128.ConvertToDouble(Random<long>())));
        Vector256<long> longs = Vector256.Create(1L, 2, 3, 4);
        Console.WriteLine(Passed(Vector128.Create(1, 2, 3, 4), new(5, 6), new(7, 8, 9), new(1, 2, 3, 4), ref longs) + " " + longs);
        var holders = new Holder[3];
        holders[1] = new Holder { Before = 1, Three = new(1, 2, 3), Two = new(4, 5), After = 2 };
        holders[2] = holders[1];
        holders[2].Three.Y = 20;
        object boxed = holders[2].Three;
        Console.WriteLine(holders[1].Three + " " + holders[2].Three + " " + holders[2].Two + " " + holders[2].After + " " + boxed.Equals(new Vector3(1, 20, 3)) + " " + Unsafe.SizeOf<Holder>() + " " + Unsafe.SizeOf<Vector512<byte>>());
        try { bytes.GetElement(16); } catch (ArgumentOutOfRangeException) { Console.WriteLine("no such element"); }
        try { Console.WriteLine(Vector128<char>.Zero + Vector128<char>.Zero); } catch (NotSupportedException) { Console.WriteLine("not supported"); }
        try { Console.WriteLine(Vector128<char>.Count); } catch (NotSupportedException) { Console.WriteLine("no such count"); }
        try { Vector256.Create((ReadOnlySpan<int>)numbers.AsSpan(39)); } catch (ArgumentOutOfRangeException) { Console.WriteLine("too short"); }
        try { Console.WriteLine(Avx2.Add(bytes.ToVector256(), bytes.ToVector256())); } catch (PlatformNotSupportedException) { Console.WriteLine("no such instruction"); }
        Console.WriteLine(Bits(Unsafe.BitCast<Vector2, long>(new(1, 2))) + " " + Unsafe.BitCast<long, Vector2>(0x4000_0000_3f80_0000) + " " + Unsafe.As<Vector4, Matrix3x2Row>(ref Unsafe.AsRef(new Vector4(1, 2, 3, 4))).B);
    }

    struct Matrix3x2Row { public float A, B; }
}
