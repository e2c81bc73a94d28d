// mcs: -unsafe -nowarn:618,1718 -r:System.Numerics -r:System.Numerics.Vectors -r:Mono.Simd
// Vectors from spans and through reinterpreted memory: `new Vector<T>(Span<T>)` with the exception for short ones, spans of bytes cast to spans of vectors, pointers into the
// middle of arrays, vectors of Mono.Simd by reference, and matrices whose fields are changed between operations.
using System;
using System.Numerics;
using System.Runtime.InteropServices;
using Mono.Simd;

static unsafe class Program
{
    static string Outcome(Func<object> action)
    {
        try { return action().ToString(); }
        catch (Exception e) { return e.GetType().Name; }
    }

    static void FromSpan<T>(T[] elements) where T : struct
    {
        int count = Vector<T>.Count;
        var sum = Vector<T>.Zero;
        for (int start = 0; start + count <= elements.Length; start++) sum += new Vector<T>(elements.AsSpan(start, count + (elements.Length - start - count) / 2));
        Console.WriteLine(typeof(T).Name + " " + sum[0] + " " + sum[count - 1]);
        Console.WriteLine(Outcome(() => new Vector<T>(elements.AsSpan(0, count - 1))) + " " + Outcome(() => new Vector<T>(default(Span<T>))) + " " + Outcome(() => new Vector<T>(elements.AsSpan(1))[0]));
    }

    static void Cast()
    {
        var bytes = new byte[64];
        for (int i = 0; i < bytes.Length; i++) bytes[i] = (byte)(i * 7);
        Span<Vector<byte>> vectors = MemoryMarshal.Cast<byte, Vector<byte>>(bytes);
        var all = Vector<byte>.Zero;
        foreach (Vector<byte> vector in vectors) all ^= vector;
        vectors[1] = all + vectors[2];
        Console.WriteLine(vectors.Length + " " + all[3] + " " + bytes[16] + " " + bytes[31]);
        Vector4 four = MemoryMarshal.Read<Vector4>(bytes);
        MemoryMarshal.Write(bytes.AsSpan(5), ref four);
        Console.WriteLine(bytes[5] + " " + bytes[20] + " " + MemoryMarshal.Cast<Vector4, float>(new[] { four * 0 + Vector4.One })[3]);
    }

    static void Pointers()
    {
        var numbers = new float[11];
        for (int i = 0; i < numbers.Length; i++) numbers[i] = i;
        fixed (float* p = &numbers[1])
        {
            *(Vector4*)p = *(Vector4*)(p + 1) * *(Vector4*)(p + 5);
            *(Vector3*)(p + 6) += new Vector3(0.5f);
            *(Vector4f*)(p + 2) = *(Vector4f*)p + Vector4f.One;
        }
        Console.WriteLine(string.Join(" ", numbers));
    }

    static void Swap(ref Vector4i a, ref Vector4i b)
    {
        Vector4i c = a;
        a = b << 1;
        Vector4i.PrefetchTemporalAllCacheLevels(ref a);
        b = c;
    }

    static void References()
    {
        Vector4i a = new Vector4i(1, 2, 3, 4), b = new Vector4i(-5);
        b.Y = 60;
        b[3] = a[1] + b.Y;
        Swap(ref a, ref b);
        int index = a.W & 1;
        a[index] += 7;
        Console.WriteLine(a + " " + b + " " + Outcome(() => a[index + 4]) + " " + Outcome(() => { a[index - 1] = 1; return a; }));
        Console.WriteLine(a.Shuffle(ShuffleSel.Swap) + " " + a.Shuffle(b, ShuffleSel.XFromW | ShuffleSel.ZFromY) + " " + (a == b) + " " + (a != b));
    }

    static void Matrices()
    {
        var m = Matrix4x4.Identity;
        var turned = Matrix4x4.CreateRotationZ((float)Math.PI / 2);
        for (int i = 0; i < 6; i++)
        {
            m.M14 += i;
            m = m * turned + Matrix4x4.Transpose(m) * 0.5f;
            m.M41 = -m.M14;
            m.M22 = (float)Math.Round(m.M22);
            m.Translation = Vector3.Transform(m.Translation, Quaternion.Identity);
            if (i % 2 == 0) GC.Collect();
        }
        Console.WriteLine((m.M11 + m.M12 + m.M13 + m.M14).ToString("f3") + " " + m.M41.ToString("f3") + " " + m.M22 + " " + m.M33.ToString("f3") + " " + (m == m) + " " + (m != -m));
        var n = Matrix3x2.CreateScale(2, 3);
        n.M31 = 4;
        n *= n;
        n.M32 += 1;
        Console.WriteLine(n + " " + Vector2.Transform(new Vector2(1, 2), n) + " " + n.Equals(n) + " " + (n == n * 2));
        Plane plane = Plane.Transform(new Plane(0, 1, 0, 5), Quaternion.Identity);
        plane.D -= 1;
        plane.Normal.X = 2;
        Console.WriteLine(plane + " " + Plane.Dot(plane, new Vector4(1, 2, 3, 4)) + " " + (plane == new Plane(2, 1, 0, 4)));
    }

    static void Main()
    {
        var random = new Random(5);
        var bytes = new byte[40];
        random.NextBytes(bytes);
        FromSpan(bytes);
        FromSpan(new short[] { 1, -2, 3, -4, 5, -6, 7, -8, 9, 10 });
        FromSpan(new[] { 1, 2, 3, 4, 5, 6, 7 });
        FromSpan(new[] { long.MaxValue, 2, 3 });
        FromSpan(new[] { 0.5f, 1.5f, -2, 4, 8 });
        FromSpan(new[] { 0.25, 1.5, -2 });
        Cast();
        Pointers();
        References();
        Matrices();
    }
}
