// env: DOTNET_EnableHWIntrinsic=0
// mcs: -r:System.Numerics -r:System.Numerics.Vectors
// Vector2, Vector3 and Vector4, and widening, narrowing and converting Vector<T>: called directly they give the bits that the class library's code gives, which is reached
// through delegates; vectors as fields of structs, in arrays whose elements are 8 and 12 bytes apart, changed field by field.
using System;
using System.Linq;
using System.Numerics;
using System.Reflection;
using System.Runtime.CompilerServices;

static class Program
{
    static readonly Random random = new Random(7);
    static readonly float[] specials = { 0f, -0f, 1f, -1f, float.NaN, float.PositiveInfinity, float.NegativeInfinity, float.Epsilon, float.MaxValue, 1e10f, -3e9f };
    static int checks;

    static float Next()
    {
        return random.Next(4) == 0 ? specials[random.Next(specials.Length)] : (float)((random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-4, 6)));
    }

    static Vector2 Two() { return new Vector2(Next(), Next()); }
    static Vector3 Three() { return new Vector3(Next(), Next(), Next()); }
    static Vector4 Four() { return new Vector4(Next(), Next(), Next(), Next()); }

    static int Bits(float f) { return float.IsNaN(f) ? int.MinValue : BitConverter.ToInt32(BitConverter.GetBytes(f), 0); }
    static string Show(params float[] f) { return string.Join(" ", f.Select(x => Bits(x).ToString("x"))); }

    static string Text(object o)
    {
        if (o is Vector2) { var v = (Vector2)o; return Show(v.X, v.Y); }
        if (o is Vector3) { var v = (Vector3)o; return Show(v.X, v.Y, v.Z); }
        if (o is Vector4) { var v = (Vector4)o; return Show(v.X, v.Y, v.Z, v.W); }
        if (o is float) return Show((float)o);
        return o.ToString();
    }

    static void Same(string what, object got, object wanted)
    {
        checks++;
        if (Text(got) != Text(wanted)) throw new Exception(what + ": " + got + " and not " + wanted + ": " + Text(got) + ", " + Text(wanted));
    }

    static object Own(Type type, string method, params object[] args)
    {
        var found = type.GetMethod(method, args.Select(a => a.GetType()).ToArray());
        if (found == null) throw new Exception("no " + type + "." + method);
        return found.Invoke(null, args);
    }

    static void Twos()
    {
        Vector2 a = Two(), b = Two();
        float f = Next();
        Type t = typeof(Vector2);
        Same("2 +", a + b, Own(t, "op_Addition", a, b));
        Same("2 -", a - b, Own(t, "op_Subtraction", a, b));
        Same("2 *", a * b, Own(t, "op_Multiply", a, b));
        Same("2 /", a / b, Own(t, "op_Division", a, b));
        Same("2 * f", a * f, Own(t, "op_Multiply", a, f));
        Same("f * 2", f * a, Own(t, "op_Multiply", f, a));
        Same("2 / f", a / f, Own(t, "op_Division", a, f));
        Same("-2", -a, Own(t, "op_UnaryNegation", a));
        Same("2 ==", a == b, Own(t, "op_Equality", a, b));
        Same("2 !=", a != a, Own(t, "op_Inequality", a, a));
        Same("2 dot", Vector2.Dot(a, b), Own(t, "Dot", a, b));
        Same("2 min", Vector2.Min(a, b), Own(t, "Min", a, b));
        Same("2 max", Vector2.Max(a, b), Own(t, "Max", a, b));
        Same("2 abs", Vector2.Abs(a), Own(t, "Abs", a));
        Same("2 root", Vector2.SquareRoot(a), Own(t, "SquareRoot", a));
        Same("2 length", a.Length(), t.GetMethod("Length").Invoke(a, null));
        Same("2 lerp", Vector2.Lerp(a, b, f), Own(t, "Lerp", a, b, f));
        Same("2 all", new Vector2(f), new Vector2(f, f));
    }

    static void Threes()
    {
        Vector3 a = Three(), b = Three();
        float f = Next();
        Type t = typeof(Vector3);
        Same("3 +", a + b, Own(t, "op_Addition", a, b));
        Same("3 -", a - b, Own(t, "op_Subtraction", a, b));
        Same("3 *", a * b, Own(t, "op_Multiply", a, b));
        Same("3 /", a / b, Own(t, "op_Division", a, b));
        Same("3 * f", a * f, Own(t, "op_Multiply", a, f));
        Same("f * 3", f * a, Own(t, "op_Multiply", f, a));
        Same("3 / f", a / f, Own(t, "op_Division", a, f));
        Same("-3", -a, Own(t, "op_UnaryNegation", a));
        Same("3 ==", a == b, Own(t, "op_Equality", a, b));
        Same("3 == itself", a == new Vector3(a.X, a.Y, a.Z), Own(t, "op_Equality", a, a));
        Same("3 dot", Vector3.Dot(a, b), Own(t, "Dot", a, b));
        Same("3 min", Vector3.Min(a, b), Own(t, "Min", a, b));
        Same("3 max", Vector3.Max(a, b), Own(t, "Max", a, b));
        Same("3 abs", Vector3.Abs(a), Own(t, "Abs", a));
        Same("3 root", Vector3.SquareRoot(a), Own(t, "SquareRoot", a));
        Same("3 cross", Vector3.Cross(a, b), Own(t, "Cross", a, b));
        Same("3 normal", Vector3.Normalize(a), Own(t, "Normalize", a));
        Same("3 distance", Vector3.Distance(a, b), Own(t, "Distance", a, b));
        Same("3 clamp", Vector3.Clamp(a, b, new Vector3(f)), Own(t, "Clamp", a, b, new Vector3(f)));
        Same("3 reflect", Vector3.Reflect(a, b), Own(t, "Reflect", a, b));
    }

    static void Fours()
    {
        Vector4 a = Four(), b = Four();
        float f = Next();
        Type t = typeof(Vector4);
        Same("4 +", a + b, Own(t, "op_Addition", a, b));
        Same("4 -", a - b, Own(t, "op_Subtraction", a, b));
        Same("4 *", a * b, Own(t, "op_Multiply", a, b));
        Same("4 /", a / b, Own(t, "op_Division", a, b));
        Same("4 * f", a * f, Own(t, "op_Multiply", a, f));
        Same("f * 4", f * a, Own(t, "op_Multiply", f, a));
        Same("4 / f", a / f, Own(t, "op_Division", a, f));
        Same("-4", -a, Own(t, "op_UnaryNegation", a));
        Same("4 ==", a == b, Own(t, "op_Equality", a, b));
        Same("4 equals", a.Equals(a), t.GetMethod("Equals", new[] { t }).Invoke(a, new object[] { a }));
        Same("4 dot", Vector4.Dot(a, b), Own(t, "Dot", a, b));
        Same("4 min", Vector4.Min(a, b), Own(t, "Min", a, b));
        Same("4 max", Vector4.Max(a, b), Own(t, "Max", a, b));
        Same("4 abs", Vector4.Abs(a), Own(t, "Abs", a));
        Same("4 root", Vector4.SquareRoot(a), Own(t, "SquareRoot", a));
        Same("4 zero", Vector4.Zero + Vector4.One * f + Vector4.UnitX - Vector4.UnitX * f, Own(t, "op_Subtraction",
            Own(t, "op_Addition", new Vector4(f, f, f, f), new Vector4(1, 0, 0, 0)), Own(t, "op_Multiply", new Vector4(1, 0, 0, 0), f)));
        var matrix = new Matrix4x4(f, 2, 3, 4, 5, Next(), 7, 8, 9, 10, 11, Next(), 13, 14, Next(), 16);
        Same("4 transform", Vector4.Transform(a, matrix), Own(t, "Transform", a, matrix));
        Same("4 matrices", Vector4.Transform(a, matrix * matrix), Own(t, "Transform", a, Own(typeof(Matrix4x4), "op_Multiply", matrix, matrix)));
        var rotation = new Quaternion(f, Next(), Next(), 1);
        Same("4 rotation", Vector4.Transform(a, rotation), Own(t, "Transform", a, rotation));
        Same("quaternions", rotation * rotation, Own(typeof(Quaternion), "op_Multiply", rotation, rotation));
        Same("plane", Plane.Dot(new Plane(a), b), Own(typeof(Plane), "Dot", new Plane(a), b));
    }

    struct Body
    {
        public byte Tag;
        public Vector3 Place, Speed;
        public Vector2 Size;
        public int Steps;
        public Vector4 Colour;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Body Step(Body body, float seconds)
    {
        body.Place += body.Speed * seconds;
        body.Speed.Y -= 9.81f * seconds;
        if (body.Place.Y < 0)
        {
            body.Place.Y = -body.Place.Y;
            body.Speed = Vector3.Reflect(body.Speed, Vector3.UnitY) * 0.9f;
        }
        body.Size *= 0.999f;
        body.Colour = Vector4.Lerp(body.Colour, Vector4.One, seconds);
        body.Steps++;
        return body;
    }

    static void Bodies()
    {
        var bodies = new Body[5];
        for (int i = 0; i < bodies.Length; i++)
            bodies[i] = new Body { Tag = (byte)(i + 1), Place = new Vector3(i, 10, -i), Speed = new Vector3(1, i, 2), Size = new Vector2(i, 2 * i), Colour = new Vector4(0, i, 0, 1) };
        for (int step = 0; step < 300; step++)
            for (int i = 0; i < bodies.Length; i++)
            {
                bodies[i] = Step(bodies[i], 0.01f);
                if (step % 100 == 0) GC.Collect();
            }
        foreach (var body in bodies)
            Console.WriteLine("{0} {1} {2:f3} {3:f3} {4:f3} {5}", body.Tag, body.Steps, body.Place, body.Speed, body.Size, body.Colour.ToString("f3"));
        var threes = new Vector3[4];
        for (int i = 0; i < 4; i++) threes[i] = new Vector3(i + 1);
        threes[1] += threes[2];
        threes[2].Y = 20;
        Console.WriteLine(string.Join(" ", threes));
        var twos = new[] { new Vector2(1, 2), new Vector2(3, 4), new Vector2(5, 6) };
        twos[1] = twos[0] * twos[2] - twos[1];
        Console.WriteLine(string.Join(" ", twos));
        var elements = new float[6];
        new Vector3(7, 8, 9).CopyTo(elements, 2);
        Console.WriteLine(string.Join(" ", elements));
    }

    static string Join<T>(Vector<T> v) where T : struct { return string.Join(" ", Enumerable.Range(0, Vector<T>.Count).Select(i => v[i])); }

    static void Conversions()
    {
        var bytes = new byte[16];
        random.NextBytes(bytes);
        Vector<byte> u8 = new Vector<byte>(bytes);
        Vector<ushort> a16, b16;
        Vector.Widen(u8, out a16, out b16);
        Same("widen bytes", Join(a16) + " " + Join(b16), string.Join(" ", bytes));
        Same("narrow bytes", Join(Vector.Narrow(a16 + b16 * a16, b16 - a16)), string.Join(" ", Enumerable.Range(0, 16).Select(i => i < 8 ? (byte)(a16[i] + b16[i] * a16[i]) : (byte)(b16[i - 8] - a16[i - 8]))));
        Vector<short> as16, bs16;
        Vector.Widen((Vector<sbyte>)u8, out as16, out bs16);
        Same("widen signed bytes", Join(as16) + " " + Join(bs16), string.Join(" ", bytes.Select(x => (sbyte)x)));
        Vector<int> a32, b32;
        Vector.Widen((Vector<short>)u8, out a32, out b32);
        Same("widen shorts", Join(a32) + " " + Join(b32), string.Join(" ", Enumerable.Range(0, 8).Select(i => BitConverter.ToInt16(bytes, 2 * i))));
        Same("narrow ints", Join(Vector.Narrow(a32 * b32, b32)), string.Join(" ", Enumerable.Range(0, 8).Select(i => i < 4 ? (short)(a32[i] * b32[i]) : (short)b32[i - 4])));
        Vector<long> a64, b64;
        Vector.Widen((Vector<int>)u8, out a64, out b64);
        Same("widen ints", Join(a64) + " " + Join(b64), string.Join(" ", Enumerable.Range(0, 4).Select(i => BitConverter.ToInt32(bytes, 4 * i))));
        Same("narrow longs", Join(Vector.Narrow(a64 * b64, b64)), string.Join(" ", Enumerable.Range(0, 4).Select(i => i < 2 ? (int)(a64[i] * b64[i]) : (int)b64[i - 2])));
        Vector<uint> au32, bu32;
        Vector.Widen((Vector<ushort>)u8, out au32, out bu32);
        Vector<ulong> au64, bu64;
        Vector.Widen((Vector<uint>)u8, out au64, out bu64);
        Same("widen unsigned", Join(au32) + " " + Join(bu64), string.Join(" ", Enumerable.Range(0, 4).Select(i => BitConverter.ToUInt16(bytes, 2 * i).ToString()).Concat(Enumerable.Range(2, 2).Select(i => BitConverter.ToUInt32(bytes, 4 * i).ToString()))));
        var singles = Enumerable.Range(0, 4).Select(i => Next()).ToArray();
        var f32 = new Vector<float>(singles);
        Vector<double> a, b;
        Vector.Widen(f32, out a, out b);
        Same("widen singles", Join(a) + " " + Join(b), string.Join(" ", singles.Select(f => (double)f)));
        Same("narrow doubles", Join(Vector.Narrow(a * 1.1, b * 3.3)), string.Join(" ", Enumerable.Range(0, 4).Select(i => i < 2 ? (float)(a[i] * 1.1) : (float)(b[i - 2] * 3.3))));
        Func<string, Type, object, object> own = (method, from, value) => typeof(Vector).GetMethods().First(m => m.Name == method && m.GetParameters()[0].ParameterType == from).Invoke(null, new[] { value });
        Same("to int", Vector.ConvertToInt32(f32), own("ConvertToInt32", typeof(Vector<float>), f32));
        Same("to single", Vector.ConvertToSingle((Vector<int>)u8), own("ConvertToSingle", typeof(Vector<int>), (Vector<int>)u8));
        Same("to single unsigned", Vector.ConvertToSingle((Vector<uint>)u8), own("ConvertToSingle", typeof(Vector<uint>), (Vector<uint>)u8));
        Same("to double", Vector.ConvertToDouble((Vector<long>)u8), own("ConvertToDouble", typeof(Vector<long>), (Vector<long>)u8));
        Same("to long", Vector.ConvertToInt64(a), own("ConvertToInt64", typeof(Vector<double>), a));
    }

    static void Main()
    {
        for (int i = 0; i < 400; i++)
        {
            Twos();
            Threes();
            Fours();
            Conversions();
        }
        Console.WriteLine(checks > 10000);
        Bodies();
    }
}
