// mcs: -r:System.Numerics -r:System.Numerics.Vectors
// timeout: 240
// Every operation of Vector<T>, for each element type: called directly, where it may be the processor's own, it gives the bits that the class library's code gives, which is
// reached through delegates. Random, special and boundary values; in locals, through memory, boxed, across calls and collections.
using System;
using System.Collections.Generic;
using System.Numerics;
using System.Reflection;
using System.Runtime.CompilerServices;

class Checker<T> where T : struct, IEquatable<T>
{
    delegate Vector<T> Unary(Vector<T> a);
    delegate Vector<T> Binary(Vector<T> a, Vector<T> b);
    delegate Vector<T> ByScalar(Vector<T> a, T b);
    delegate Vector<T> OfScalar(T a, Vector<T> b);
    delegate bool Test(Vector<T> a, Vector<T> b);
    delegate T Fold(Vector<T> a, Vector<T> b);

    readonly T[] specials;
    readonly Func<Random, T> next;
    readonly Random random = new Random(42);
    readonly string name = typeof(T).Name;
    int checks;
    Vector<T> field;
    static Vector<T> shared;

    public Checker(Func<Random, T> next, params T[] specials) { this.next = next; this.specials = specials; }

    T Value() { return random.Next(3) == 0 ? specials[random.Next(specials.Length)] : next(random); }

    Vector<T> Random()
    {
        var values = new T[Vector<T>.Count];
        for (int i = 0; i < values.Length; i++) values[i] = Value();
        return new Vector<T>(values);
    }

    static D Own<D>(string method, params Type[] parameters) where D : class
    {
        const BindingFlags All = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
        MethodInfo found = typeof(Vector<T>).GetMethod(method, All, null, parameters, null);
        if (found == null) throw new Exception("no " + method);
        return (D)(object)Delegate.CreateDelegate(typeof(D), found);
    }

    static string Bits(Vector<T> v)
    {
        var bytes = new byte[Vector<byte>.Count];
        ((Vector<byte>)v).CopyTo(bytes);
        return BitConverter.ToString(bytes);
    }

    void Same(string what, Vector<T> got, Vector<T> wanted, Vector<T> a, Vector<T> b)
    {
        checks++;
        string x = Bits(got), y = Bits(wanted);
        if (x != y) throw new Exception(name + " " + what + ": " + x + " and not " + y + " of " + a + " " + b);
    }

    void Same(string what, object got, object wanted, Vector<T> a, Vector<T> b)
    {
        checks++;
        if (!got.Equals(wanted)) throw new Exception(name + " " + what + ": " + got + " and not " + wanted + " of " + a + " " + b);
    }

    static string Outcome(Func<object> action)
    {
        try { return action().ToString(); }
        catch (Exception e) { return e.GetType().Name; }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Vector<T> Passed(Vector<T> a, int depth, Vector<T> b) { return depth == 0 ? a : Passed(a, depth - 1, b); }

    public void Run(int rounds, bool isFloat, bool isSigned)
    {
        Type v = typeof(Vector<T>), t = typeof(T);
        var binaries = new Dictionary<string, Tuple<Binary, Binary>>();
        Action<string, Binary> binary = (method, direct) => binaries[method] = Tuple.Create(direct, Own<Binary>(method, v, v));
        binary("op_Addition", (a, b) => a + b);
        binary("op_Subtraction", (a, b) => a - b);
        binary("op_Multiply", (a, b) => a * b);
        binary("op_BitwiseAnd", (a, b) => a & b);
        binary("op_BitwiseOr", (a, b) => a | b);
        binary("op_ExclusiveOr", (a, b) => a ^ b);
        binary("Equals", (a, b) => Vector.Equals<T>(a, b));
        binary("LessThan", (a, b) => Vector.LessThan<T>(a, b));
        binary("LessThanOrEqual", (a, b) => Vector.LessThanOrEqual<T>(a, b));
        binary("GreaterThan", (a, b) => Vector.GreaterThan<T>(a, b));
        binary("GreaterThanOrEqual", (a, b) => Vector.GreaterThanOrEqual<T>(a, b));
        binary("Min", (a, b) => Vector.Min(a, b));
        binary("Max", (a, b) => Vector.Max(a, b));
        if (isFloat) binary("op_Division", (a, b) => a / b);
        var not = Own<Unary>("op_OnesComplement", v);
        var negate = Own<Unary>("op_UnaryNegation", v);
        var abs = Own<Unary>("Abs", v);
        var root = Own<Unary>("SquareRoot", v);
        var times = Own<ByScalar>("op_Multiply", v, t);
        var timesOf = Own<OfScalar>("op_Multiply", t, v);
        var equal = Own<Test>("op_Equality", v, v);
        var unequal = Own<Test>("op_Inequality", v, v);
        var dot = Own<Fold>("DotProduct", v, v);
        for (int round = 0; round < rounds; round++)
        {
            Vector<T> a = Random(), b = round % 8 == 0 ? a : Random(), c = Random();
            T scalar = Value();
            foreach (var pair in binaries) Same(pair.Key, pair.Value.Item1(a, b), pair.Value.Item2(a, b), a, b);
            Same("~", ~a, not(a), a, a);
            Same("-", -a, negate(a), a, a);
            if (isFloat || isSigned)
                Same("Abs", Outcome(() => Bits(Vector.Abs(a))), Outcome(() => Bits(abs(a))), a, a);
            if (isFloat) Same("SquareRoot", Vector.SquareRoot(a), root(a), a, a);
            Same("* scalar", a * scalar, times(a, scalar), a, b);
            Same("scalar *", scalar * a, timesOf(scalar, a), a, b);
            Same("==", a == b, equal(a, b), a, b);
            Same("!=", a != b, unequal(a, b), a, b);
            Same("equals", a.Equals(b), equal(a, b), a, b);
            Same("equals object", a.Equals((object)b), equal(a, b), a, b);
            Same("dot", Vector.Dot(a, b), dot(a, b), a, b);
            Same("select", Vector.ConditionalSelect(c, a, b), (a & c) | Vector.AndNot(b, c), a, b);
            Same("and not", Vector.AndNot(a, b), binaries["op_BitwiseAnd"].Item2(a, not(b)), a, b);
            Elements(a, scalar);
            Places(a, b, binaries["op_Addition"].Item2(a, b));
        }
        Same("zero", Vector<T>.Zero, new Vector<T>(default(T)), default(Vector<T>), default(Vector<T>));
        Same("one", Vector<T>.One, new Vector<T>((T)Convert.ChangeType(1, typeof(T))), default(Vector<T>), default(Vector<T>));
        Console.WriteLine(name + ": " + (checks > rounds * 20));
    }

    void Elements(Vector<T> a, T scalar)
    {
        int count = Vector<T>.Count;
        var array = new T[count + 3];
        for (int start = -1; start <= 4; start++)
        {
            int at = start;
            string copied = Outcome(() => { a.CopyTo(array, at); return "copied"; });
            string wanted = start < 0 ? "ArgumentOutOfRangeException" : start > 3 ? "ArgumentException" : "copied";
            Same("CopyTo " + start, copied, wanted, a, a);
            if (copied != "copied") continue;
            Same("from array", new Vector<T>(array, start), a, a, a);
            for (int i = 0; i < count; i++)
                if (!array[start + i].Equals(a[i])) throw new Exception(name + " element " + i + " of " + a);
        }
        Same("first", a[0], array[3], a, a);
        Same("last", Outcome(() => a[count]), "IndexOutOfRangeException", a, a);
        Same("negative", Outcome(() => a[-1]), "IndexOutOfRangeException", a, a);
        Same("no array", Outcome(() => new Vector<T>((T[])null)), "NullReferenceException", a, a);
        Same("short array", Outcome(() => new Vector<T>(new T[count - 1])), "IndexOutOfRangeException", a, a);
        Same("array from -1", Outcome(() => new Vector<T>(array, -1)), "IndexOutOfRangeException", a, a);
        Same("array from the end", Outcome(() => new Vector<T>(array, int.MaxValue)), "IndexOutOfRangeException", a, a);
        var all = new Vector<T>(scalar);
        for (int i = 0; i < count; i++)
            if (!all[i].Equals(scalar)) throw new Exception(name + " all " + scalar + ": " + all);
        Same("as bytes and back", (Vector<T>)(object)Back((Vector<long>)a), a, a, a);
    }

    static object Back(Vector<long> bits)
    {
        var bytes = (Vector<byte>)bits;
        if (typeof(T) == typeof(byte)) return bytes;
        if (typeof(T) == typeof(sbyte)) return (Vector<sbyte>)bytes;
        if (typeof(T) == typeof(short)) return (Vector<short>)bytes;
        if (typeof(T) == typeof(ushort)) return (Vector<ushort>)bytes;
        if (typeof(T) == typeof(int)) return (Vector<int>)bytes;
        if (typeof(T) == typeof(uint)) return (Vector<uint>)bytes;
        if (typeof(T) == typeof(long)) return (Vector<long>)bytes;
        if (typeof(T) == typeof(ulong)) return (Vector<ulong>)bytes;
        if (typeof(T) == typeof(float)) return (Vector<float>)bytes;
        return (Vector<double>)bytes;
    }

    void Places(Vector<T> a, Vector<T> b, Vector<T> sum)
    {
        field = a;
        shared = b;
        object box = a + b;
        var list = new List<Vector<T>> { a, b };
        var array = new[] { a, b, default(Vector<T>) };
        array[2] = array[0] + array[1];
        if (checks % 64 == 0) GC.Collect();
        Same("fields", field + shared, sum, a, b);
        Same("box", (Vector<T>)box, sum, a, b);
        Same("list", list[0] + list[1], sum, a, b);
        Same("array", array[2], sum, a, b);
        Same("calls", Passed(a, 3, b) + Passed(b, 0, a), sum, a, b);
        Vector<T> low = a, high = b;
        try { Swap(ref low, ref high); }
        finally { low += high; }
        Same("references", low, sum, b, a);
        T first = default(T);
        Func<Vector<T>> capture = () => { first = a[0]; return a + b; };
        Same("capture", capture(), sum, a, b);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Swap(ref Vector<T> a, ref Vector<T> b) { if (checksOf > 0) { var c = a; a = b; b = c; } checksOf++; }

    static int checksOf;
}

static class Program
{
    static void Main()
    {
        Func<Random, long> bits = random => (long)random.Next() << 40 ^ (long)random.Next() << 20 ^ random.Next();
        Func<Random, double> number = random => (random.NextDouble() - 0.5) * Math.Pow(10, random.Next(-8, 9));
        const int Rounds = 150;
        new Checker<byte>(r => (byte)bits(r), 0, 1, 127, 128, 255).Run(Rounds, false, false);
        new Checker<sbyte>(r => (sbyte)bits(r), 0, 1, -1, 127, -128).Run(Rounds, false, true);
        new Checker<ushort>(r => (ushort)bits(r), 0, 1, 32767, 32768, 65535).Run(Rounds, false, false);
        new Checker<short>(r => (short)bits(r), 0, 1, -1, 32767, -32768).Run(Rounds, false, true);
        new Checker<uint>(r => (uint)bits(r), 0, 1, int.MaxValue, 1u << 31, uint.MaxValue).Run(Rounds, false, false);
        new Checker<int>(r => (int)bits(r), 0, 1, -1, int.MaxValue, int.MinValue).Run(Rounds, false, true);
        new Checker<ulong>(r => (ulong)bits(r), 0, 1, long.MaxValue, 1ul << 63, ulong.MaxValue).Run(Rounds, false, false);
        new Checker<long>(r => bits(r), 0, 1, -1, long.MaxValue, long.MinValue).Run(Rounds, false, true);
        new Checker<float>(r => (float)number(r), 0f, -0f, 1f, -1f, float.NaN, float.PositiveInfinity, float.NegativeInfinity,
            float.Epsilon, float.MaxValue, float.MinValue).Run(Rounds, true, true);
        new Checker<double>(r => number(r), 0.0, -0.0, 1, -1, double.NaN, double.PositiveInfinity, double.NegativeInfinity,
            double.Epsilon, double.MaxValue, double.MinValue).Run(Rounds, true, true);
        Console.WriteLine(Vector<byte>.Count + " bytes");
    }
}
