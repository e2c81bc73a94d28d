// mcs: -unsafe -r:System.Numerics -r:System.Numerics.Vectors
// timeout: 120
// Vectors as parameters and results of every kind of call, against the same sums made of single floats: in registers and, beyond eight, on the stack; first calls, which compile the
// callee, run a class constructor or look an interface method up; calls by delegates, reflection, proxies and dynamic methods. A second process does it without vectors.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Numerics;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;
using System.Threading;
using System.Threading.Tasks;

struct Pair { public long A; public double B; public string C; }
struct Ray { public Vector3 Origin, Direction; public Ray(Vector3 o, Vector3 d) { Origin = o; Direction = d; } }
struct Wrapped<T> { public T Value; public int Tag; }

interface IShape
{
    Vector4 Mix(Vector4 a, Vector3 b, Vector2 c, float k);
    Vector3 Scale(Vector3 v, int n);
}

// More methods than an interface table has slots, so that some share one.
interface IMany
{
    Vector4 M0(Vector4 v); Vector4 M1(Vector4 v); Vector4 M2(Vector4 v); Vector4 M3(Vector4 v); Vector4 M4(Vector4 v); Vector4 M5(Vector4 v); Vector4 M6(Vector4 v);
    Vector4 M7(Vector4 v); Vector4 M8(Vector4 v); Vector4 M9(Vector4 v); Vector4 M10(Vector4 v); Vector4 M11(Vector4 v); Vector4 M12(Vector4 v); Vector4 M13(Vector4 v);
    Vector4 M14(Vector4 v); Vector4 M15(Vector4 v); Vector4 M16(Vector4 v); Vector4 M17(Vector4 v); Vector4 M18(Vector4 v); Vector4 M19(Vector4 v); Vector4 M20(Vector4 v);
    Vector4 Eight(Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e, Vector4 f, Vector4 g, Vector4 h, Vector4 i, Vector4 j);
}

class Many : IMany
{
    static Vector4 Plus(Vector4 v, int n) { return v + new Vector4(n); }
    public Vector4 M0(Vector4 v) { return Plus(v, 0); } public Vector4 M1(Vector4 v) { return Plus(v, 1); } public Vector4 M2(Vector4 v) { return Plus(v, 2); }
    public Vector4 M3(Vector4 v) { return Plus(v, 3); } public Vector4 M4(Vector4 v) { return Plus(v, 4); } public Vector4 M5(Vector4 v) { return Plus(v, 5); }
    public Vector4 M6(Vector4 v) { return Plus(v, 6); } public Vector4 M7(Vector4 v) { return Plus(v, 7); } public Vector4 M8(Vector4 v) { return Plus(v, 8); }
    public Vector4 M9(Vector4 v) { return Plus(v, 9); } public Vector4 M10(Vector4 v) { return Plus(v, 10); } public Vector4 M11(Vector4 v) { return Plus(v, 11); }
    public Vector4 M12(Vector4 v) { return Plus(v, 12); } public Vector4 M13(Vector4 v) { return Plus(v, 13); } public Vector4 M14(Vector4 v) { return Plus(v, 14); }
    public Vector4 M15(Vector4 v) { return Plus(v, 15); } public Vector4 M16(Vector4 v) { return Plus(v, 16); } public Vector4 M17(Vector4 v) { return Plus(v, 17); }
    public Vector4 M18(Vector4 v) { return Plus(v, 18); } public Vector4 M19(Vector4 v) { return Plus(v, 19); } public Vector4 M20(Vector4 v) { return Plus(v, 20); }
    public Vector4 Eight(Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e, Vector4 f, Vector4 g, Vector4 h, Vector4 i, Vector4 j)
    {
        return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
    }
}

abstract class Shape
{
    public int Count;
    public abstract Vector4 Mix(Vector4 a, Vector3 b, Vector2 c, float k);
    public virtual Vector3 Scale(Vector3 v, int n) { return v * n; }
    public virtual T Choose<T>(bool first, T a, T b) { return first ? a : b; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public Vector4 Sum(Vector4 a, Vector4 b) { Count++; return a + b; }
    [MethodImpl(MethodImplOptions.Synchronized | MethodImplOptions.NoInlining)]
    public Vector2 Locked(Vector2 a, Vector2 b) { Count++; return a - b; }
}

sealed class Box : Shape, IShape
{
    public override Vector4 Mix(Vector4 a, Vector3 b, Vector2 c, float k) { return a * k + new Vector4(b.X, b.Y, b.Z, c.X) + new Vector4(c.Y); }
}

class Tube : Shape, IShape
{
    public override Vector4 Mix(Vector4 a, Vector3 b, Vector2 c, float k) { return new Vector4(a.W, b.Z, c.Y, k); }
    public override Vector3 Scale(Vector3 v, int n) { return base.Scale(v, n) + Vector3.One; }
    public override T Choose<T>(bool first, T a, T b) { return first ? b : a; }
}

// An instance method of a value that is called through its box.
struct Offset : IShape
{
    public float By;
    public Vector4 Mix(Vector4 a, Vector3 b, Vector2 c, float k) { return a + new Vector4(b, c.X) * k + new Vector4(By); }
    public Vector3 Scale(Vector3 v, int n) { By += 1; return v * n + new Vector3(By); }
}

static class WithConstructor
{
    static readonly Vector4 start;
    static WithConstructor()
    {
        for (int i = 0; i < 10; i++) start += Calls.Nine(i, Vector4.One, Vector4.Zero, Vector4.One, Vector4.Zero, Vector4.One, Vector4.Zero, Vector4.One, Vector4.One, Vector4.One);
        GC.Collect();
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Get(Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e, Vector4 f, Vector4 g, Vector4 h) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + start; }
}

static class WithField
{
    public static readonly Vector4 Made = Make();
    static Vector4 Make() { GC.Collect(); return Calls.Nine(1, Vector4.One, Vector4.One, Vector4.One, Vector4.One, Vector4.One, Vector4.One, Vector4.One, Vector4.One, Vector4.One); }
}

static class Calls
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Nine(float k, Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e, Vector4 f, Vector4 g, Vector4 h, Vector4 i)
    {
        return (a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i) * k;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Mixed(int i, Vector4 a, double d, Vector3 b, long l, Vector2 c, Pair p, Vector<int> n, string s, Vector<double> m, float f, Quaternion q, byte t, Vector4 e, Vector4 g, Vector3 h, Vector2 j)
    {
        float k = i + (float)d + l + p.A + (float)p.B + p.C.Length + n[0] + n[3] + s.Length + (float)m[1] + f + t;
        return a + new Vector4(b, c.X) * k + new Vector4(c.Y) + new Vector4(q.X, q.Y, q.Z, q.W) + e - g + new Vector4(h, 0) + new Vector4(j, 1, 2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector2 Two(Vector2 a, Vector2 b) { return a * b + a; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector3 Three(Vector3 a, Vector3 b) { return Vector3.Cross(a, b) + a; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static float ByFields(Vector3 v, Vector2 w) { return v.X * w.X + v.Y * w.Y - v.Z; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector3 Build(float x, float y, float z) { Vector3 v; v.X = x; v.Y = y; v.Z = z; return v; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector4 Changed(Vector4 v) { v.X = 5; v.Y += v.Z; Poke(ref v.W); return v; }
    [MethodImpl(MethodImplOptions.NoInlining)] static void Poke(ref float f) { f = -f; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static unsafe float ByPointer(Vector3 v, int i) { float* p = &v.X; p[i] += 1; return v.X + 10 * v.Y + 100 * v.Z; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static void ByRef(ref Vector3 a, out Vector2 b, in Vector4 c) { a += new Vector3(c.X); b = new Vector2(c.Z, a.X); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector<T> Lanes<T>(Vector<T> a, Vector<T> b) where T : struct { return a + b; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static T Pick<T>(int n, T a, T b, T c) { return n == 0 ? a : n == 1 ? b : c; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Wrapped<T> Wrap<T>(T value, int tag) { return new Wrapped<T> { Value = value, Tag = tag }; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector3 At(Ray r, float t) { return r.Origin + r.Direction * t; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector3 Twice(Ray r, float t) { return Three(r.Direction, At(r, t)); }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector4 Deep(int n, Vector4 a, Vector4 b) { return n == 0 ? a - b : Deep(n - 1, a + b, b) + a; }
    [MethodImpl(MethodImplOptions.NoInlining)] public static Vector4 Constrained<T>(T shape, Vector4 a) where T : IShape { var s = shape.Scale(new Vector3(a.X), 3); return shape.Mix(a, s, new Vector2(a.Y), 2); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Variable(Vector4 a, __arglist)
    {
        var arguments = new ArgIterator(__arglist);
        while (arguments.GetRemainingCount() > 0) a = a * 2 + __refvalue(arguments.GetNextArg(), Vector4);
        return a;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Throws(bool really, Vector4 a, Vector4 b, Vector4 c, Vector4 d, Vector4 e, Vector4 f, Vector4 g, Vector4 h, Vector4 i)
    {
        if (really) throw new InvalidOperationException((a + i).X.ToString());
        return a;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 Collects(Vector4 a, object o, Vector3 b, List<object> kept)
    {
        for (int i = 0; i < 20; i++) { kept.Add(new object[10]); if (i % 10 == 0) GC.Collect(); }
        return a + new Vector4(b, o.ToString().Length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Vector4 InTry(Vector4 a, Vector4 b, int n)
    {
        Vector4 sum = a, last = b;
        for (int i = 0; i < n; i++)
        {
            try { sum = Throws(i % 3 == 1, sum + b, a, b, a, b, a, b, a, last); last = sum; }
            catch (InvalidOperationException e) when (e.Message.Length > 0 && a.X < 1e9f) { sum += new Vector4(e.Message.Length); }
            finally { last += Vector4.One; }
        }
        return sum + last;
    }
}

class Local : MarshalByRefObject
{
    public Vector4 Field;
    [MethodImpl(MethodImplOptions.NoInlining)] public virtual Vector4 Add(Vector4 a, Vector2 b, int n) { return Field + a + new Vector4(b, n, 0); }
}

class Echo : RealProxy
{
    public Echo() : base(typeof(Local)) { }
    public override IMessage Invoke(IMessage message)
    {
        var call = (IMethodCallMessage)message;
        if (call.MethodName != "Add") return new ReturnMessage(null, null, 0, call.LogicalCallContext, call);
        var sum = (Vector4)call.Args[0] * (int)call.Args[2] + new Vector4((Vector2)call.Args[1], 0, 0);
        return new ReturnMessage(sum, null, 0, call.LogicalCallContext, call);
    }
}

static class Program
{
    delegate Vector4 Mixer(Vector4 a, Vector3 b, Vector2 c, float k);
    delegate Vector4 OpenMixer(Shape shape, Vector4 a, Vector3 b, Vector2 c, float k);

    static int checks;

    static void Same(string what, Vector4 got, double x, double y, double z, double w)
    {
        checks++;
        if (got.X != (float)x || got.Y != (float)y || got.Z != (float)z || got.W != (float)w)
            throw new Exception(what + ": " + got + " and not " + x + " " + y + " " + z + " " + w);
    }

    static void Same(string what, Vector3 got, double x, double y, double z) { Same(what, new Vector4(got.X, got.Y, got.Z, 0), x, y, z, 0); }
    static void Same(string what, Vector2 got, double x, double y) { Same(what, new Vector4(got.X, got.Y, 0, 0), x, y, 0, 0); }
    static void Same(string what, object got, object wanted) { checks++; if (!got.Equals(wanted)) throw new Exception(what + ": " + got + " and not " + wanted); }

    static Vector4 V(int n) { return new Vector4(n, n + 1, n + 2, n + 3); }
    static Vector3 W(int n) { return new Vector3(n, n + 1, n + 2); }
    static Vector2 U(int n) { return new Vector2(n, n + 1); }

    static void Static()
    {
        for (int round = 0; round < 3; round++)
        {
            // 1·1 + 2·2 + … + 9·9 = 285, and each lane is one more than the one before, 45 times.
            Same("nine", Calls.Nine(2, V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9)), 570, 660, 750, 840);
            var p = new Pair { A = 7, B = 0.5, C = "abc" };
            float k = 1 + 2.5f + 3 + 7 + 0.5f + 3 + 1 + 4 + 2 + 2.25f + 0.25f + 9;
            var n = new Vector<int>(new[] { 1, 2, 3, 4 });
            var m = new Vector<double>(new[] { 1.25, 2.25 });
            Same("mixed", Calls.Mixed(1, V(1), 2.5, W(2), 3, U(3), p, n, "xy", m, 0.25f, new Quaternion(1, 2, 3, 4), 9, V(10), V(20), W(30), U(40)),
                1 + 2 * k + 4 + 1 + 10 - 20 + 30 + 40, 2 + 3 * k + 4 + 2 + 11 - 21 + 31 + 41, 3 + 4 * k + 4 + 3 + 12 - 22 + 32 + 1, 4 + 3 * k + 4 + 4 + 13 - 23 + 2);
            Same("two", Calls.Two(U(2), U(5)), 2 * 5 + 2, 3 * 6 + 3);
            Same("three", Calls.Three(W(1), new Vector3(2, 5, 7)), 2 * 7 - 3 * 5 + 1, 3 * 2 - 1 * 7 + 2, 1 * 5 - 2 * 2 + 3);
            Same("fields", Calls.ByFields(W(3), U(7)), 3f * 7 + 4 * 8 - 5);
            Same("build", Calls.Build(1, 2, 3), 1, 2, 3);
            var v = V(1);
            Same("changed", Calls.Changed(v), 5, 5, 3, -4);
            Same("not changed", v, 1, 2, 3, 4);
            Same("pointer", Calls.ByPointer(W(1), 1), 1f + 30 + 300);
            var a = W(1);
            Vector2 b;
            Calls.ByRef(ref a, out b, v);
            Same("ref", a, 2, 3, 4);
            Same("out", b, 3, 2);
            Same("lanes", Calls.Lanes(new Vector<byte>(200), new Vector<byte>(100)), new Vector<byte>(44));
            Same("lanes", Calls.Lanes(new Vector<long>(-5), new Vector<long>(7)), new Vector<long>(2));
            Same("deep", Calls.Deep(400, V(0), Vector4.One), 400 + 79800 - 1, 401 + 79800 - 1 + 400, 402 + 79800 - 1 + 800, 403 + 79800 - 1 + 1200);
            Same("varargs", Calls.Variable(V(1), __arglist(V(10), V(100))), 4 + 20 + 100, 8 + 22 + 101, 12 + 24 + 102, 16 + 26 + 103);
            Same("constructor", WithConstructor.Get(V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8)), 204 + 33 * 45, 240 + 33 * 45, 276 + 33 * 45, 312 + 33 * 45);
            Same("field", v + WithField.Made + Calls.Changed(v), 6 + 45, 7 + 45, 6 + 45, 0 + 45);
            // A payload and the sign of zero are no sums: they pass unchanged.
            var bits = (Vector<int>)Calls.Pick(1, new Vector<float>(1), (Vector<float>)new Vector<int>(0x7fc12345), new Vector<float>(-0f));
            Same("payload", bits, new Vector<int>(0x7fc12345));
        }
        Same("unused lanes", Vector3.Dot(Calls.Three(W(1), W(2)), W(1)) + Vector2.Dot(Calls.Two(U(1), U(2)), U(1)), 14f + 3 + 16);
    }

    static void Generic()
    {
        Same("pick", Calls.Pick(1, V(1), V(2), V(3)), 2, 3, 4, 5);
        Same("pick", Calls.Pick(2, W(1), W(2), W(3)), 3, 4, 5);
        Same("pick", Calls.Pick(0, U(1), U(2), U(3)), 1, 2);
        var wrapped = Calls.Wrap(W(4), 9);
        Same("wrap", wrapped.Value * wrapped.Tag, 36, 45, 54);
        Same("constrained", Calls.Constrained(new Box(), V(1)), 2 + 3 + 2, 4 + 3 + 2, 6 + 3 + 2, 8 + 2 + 2);
        Same("constrained", Calls.Constrained(new Offset { By = 1 }, V(1)), 1 + 2 * 5 + 2, 2 + 2 * 5 + 2, 3 + 2 * 5 + 2, 4 + 2 * 2 + 2);
        var table = new Dictionary<Vector3, Vector4>();
        for (int i = 0; i < 50; i++) table[W(i)] = V(i * 2);
        Same("dictionary", table[W(20)], 40, 41, 42, 43);
        var list = new List<Vector2>();
        for (int i = 0; i < 50; i++) list.Add(U(50 - i));
        list.Sort((x, y) => x.X.CompareTo(y.X));
        Same("sort", list[3], 4, 5);
        Same("linq", Enumerable.Range(0, 10).Select(V).Aggregate(Vector4.Zero, (x, y) => x + y), 45, 55, 65, 75);
        var tuple = Tuple.Create(V(1), W(2), U(3));
        Same("tuple", tuple.Item1 + new Vector4(tuple.Item2, 0) + new Vector4(tuple.Item3, 0, 0), 6, 9, 7, 4);
        var ray = new Ray(W(1), W(2));
        Same("ray", Calls.At(ray, 2), 5, 8, 11);
        Same("ray", Calls.Twice(ray, 2), 3 * 11 - 4 * 8 + 2, 4 * 5 - 2 * 11 + 3, 2 * 8 - 3 * 5 + 4);
    }

    static void Virtual()
    {
        for (int round = 0; round < 2; round++)
        {
            foreach (Shape shape in new Shape[] { new Box(), new Tube() })
            {
                bool isBox = shape is Box;
                if (isBox) Same("mix", shape.Mix(V(1), W(2), U(3), 2), 8, 11, 14, 15);
                else Same("mix", shape.Mix(V(1), W(2), U(3), 2), 4, 4, 4, 2);
                Same("scale", shape.Scale(W(1), 3), isBox ? 3 : 4, isBox ? 6 : 7, isBox ? 9 : 10);
                Same("generic virtual", shape.Choose(isBox, W(1), W(2)), isBox ? 1 : 1, 2, 3);
                Same("generic virtual", shape.Choose(true, V(1), V(2)), isBox ? 1 : 2, isBox ? 2 : 3, isBox ? 3 : 4, isBox ? 4 : 5);
                Same("instance", shape.Sum(V(1), V(2)), 3, 5, 7, 9);
                Same("synchronized", shape.Locked(U(5), U(1)), 4, 4);
                Same("count", shape.Count, 2);
            }
            foreach (IShape shape in new IShape[] { new Box(), new Tube(), new Offset { By = 10 } })
            {
                float n = shape is Tube ? 1 : shape is Offset ? 11 : 0;
                Same("interface", shape.Scale(W(1), 3), 3 + n, 6 + n, 9 + n);
                if (shape is Offset) Same("boxed", shape.Mix(V(1), W(2), U(3), 2), 1 + 4 + 11, 2 + 6 + 11, 3 + 8 + 11, 4 + 6 + 11);
            }
        }
        IMany many = new Many();
        for (int round = 0; round < 2; round++)
        {
            Same("ten", many.Eight(V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9), V(10)), 385, 440, 495, 550);
            Vector4 sum = many.M0(V(1)) + many.M1(V(1)) + many.M2(V(1)) + many.M3(V(1)) + many.M4(V(1)) + many.M5(V(1)) + many.M6(V(1)) + many.M7(V(1)) + many.M8(V(1)) + many.M9(V(1)) + many.M10(V(1));
            sum += many.M11(V(1)) + many.M12(V(1)) + many.M13(V(1)) + many.M14(V(1)) + many.M15(V(1)) + many.M16(V(1)) + many.M17(V(1)) + many.M18(V(1)) + many.M19(V(1)) + many.M20(V(1));
            Same("many", sum, 231, 252, 273, 294);
        }
    }

    static Vector4 StaticMix(Vector4 a, Vector3 b, Vector2 c, float k) { return new Vector4(b, k) + a; }
    static Vector4 OnObject(string s, Vector4 a, Vector3 b, Vector2 c, float k) { return a + new Vector4(s.Length); }

    static void Delegates()
    {
        var all = BindingFlags.Static | BindingFlags.NonPublic;
        Shape box = new Box(), tube = new Tube();
        Mixer open = StaticMix;
        Mixer closed = box.Mix;
        Mixer boxed = new Offset { By = 1 }.Mix;
        var extension = (Mixer)Delegate.CreateDelegate(typeof(Mixer), "four", typeof(Program).GetMethod("OnObject", all));
        var openVirtual = (OpenMixer)Delegate.CreateDelegate(typeof(OpenMixer), typeof(Shape).GetMethod("Mix"));
        var openInstance = (Func<Shape, Vector4, Vector4, Vector4>)Delegate.CreateDelegate(typeof(Func<Shape, Vector4, Vector4, Vector4>), typeof(Shape).GetMethod("Sum"));
        int n = 0;
        Mixer lambda = (a, b, c, k) => a * ++n;
        for (int round = 1; round < 3; round++)
        {
            Same("open", open(V(1), W(2), U(3), 2), 3, 5, 7, 6);
            Same("closed", closed(V(1), W(2), U(3), 2), 8, 11, 14, 15);
            Same("boxed", boxed(V(1), W(2), U(3), 2), 1 + 4 + 1, 2 + 6 + 1, 3 + 8 + 1, 4 + 6 + 1);
            Same("closed over an object", extension(V(1), W(2), U(3), 2), 5, 6, 7, 8);
            Same("open virtual", openVirtual(box, V(1), W(2), U(3), 2), 8, 11, 14, 15);
            Same("open virtual", openVirtual(tube, V(1), W(2), U(3), 2), 4, 4, 4, 2);
            Same("open instance", openInstance(box, V(1), V(2)), 3, 5, 7, 9);
            Same("lambda", lambda(V(1), W(2), U(3), 2), round, 2 * round, 3 * round, 4 * round);
        }
        Mixer both = (Mixer)Delegate.Combine(lambda, closed, lambda, extension);
        Same("multicast", both(V(1), W(2), U(3), 2), 5, 6, 7, 8);
        Same("multicast", n, 4);
        Same("dynamic", (Vector4)both.DynamicInvoke(V(1), W(2), U(3), 2f), 5, 6, 7, 8);
        var begun = open.BeginInvoke(V(1), W(2), U(3), 2, null, null);
        Same("asynchronous", open.EndInvoke(begun), 3, 5, 7, 6);
        Func<Vector3, Vector2> narrow = v => new Vector2(v.Z, v.X);
        Same("func", narrow(W(5)), 7, 5);
        Action<Vector2, Vector<short>> action = (u, s) => n = (int)u.Y + s[7];
        action(U(4), new Vector<short>(100));
        Same("action", n, 105);
    }

    static Vector4 WithDefault(Vector4 a, int n, Vector3 b, Vector2 c, object o, Vector<double> d) { return a * n + new Vector4(b, c.Y) + new Vector4((float)d[1]); }

    static void Reflection()
    {
        const BindingFlags All = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        var method = typeof(Program).GetMethod("WithDefault", All);
        Same("invoke", (Vector4)method.Invoke(null, new object[] { V(1), 3, W(2), U(3), null, new Vector<double>(0.5) }), 5.5, 9.5, 13.5, 16.5);
        Same("invoke of null", (Vector4)method.Invoke(null, new object[] { null, 3, W(2), null, null, new Vector<double>(0.5) }), 2.5, 3.5, 4.5, 0.5);
        Same("invoke", (Vector3)typeof(Shape).GetMethod("Scale").Invoke(new Tube(), new object[] { W(1), 3 }), 4, 7, 10);
        Same("invoke", (Vector2)typeof(Shape).GetMethod("Locked").Invoke(new Tube(), new object[] { U(4), U(1) }), 3, 3);
        object offset = new Offset { By = 1 };
        Same("invoke on a box", (Vector3)typeof(Offset).GetMethod("Scale").Invoke(offset, new object[] { W(1), 2 }), 4, 6, 8);
        Same("changed box", ((Offset)offset).By, 2f);
        Same("invoke by interface", (Vector4)typeof(IMany).GetMethod("Eight").Invoke(new Many(), Enumerable.Range(1, 10).Select(i => (object)V(i)).ToArray()), 385, 440, 495, 550);
        var arguments = new object[] { W(1), null, V(1) };
        typeof(Calls).GetMethod("ByRef").Invoke(null, arguments);
        Same("invoke by reference", (Vector3)arguments[0], 2, 3, 4);
        Same("invoke by reference", (Vector2)arguments[1], 3, 2);
        Same("operator", (Vector3)typeof(Vector3).GetMethod("Cross", All).Invoke(null, new object[] { W(1), W(2) }), 2 * 4 - 3 * 3, 3 * 2 - 1 * 4, 1 * 3 - 2 * 2);
        Same("constructor", (Vector3)Activator.CreateInstance(typeof(Vector3), 1f, 2f, 3f), 1, 2, 3);
        var plane = new Vector3[2, 3];
        plane[1, 2] = W(7);
        plane[0, 1] = plane[1, 2] + W(1);
        Same("element", (Vector3)plane.GetType().GetMethod("Get").Invoke(plane, new object[] { 0, 1 }), 8, 10, 12);
        plane.GetType().GetMethod("Set").Invoke(plane, new object[] { 1, 1, W(3) });
        Same("element", plane[1, 1], 3, 4, 5);
        object o = V(3);
        Same("box", (Vector4)o, 3, 4, 5, 6);
        Same("equal boxes", o.Equals(V(3)) && !o.Equals(V(4)) && o.GetHashCode() == V(3).GetHashCode(), true);
    }

    static readonly Type[] Nines = Enumerable.Repeat(typeof(Vector4), 9).ToArray();

    static void DynamicMethods()
    {
        var nine = typeof(Calls).GetMethod("Nine");
        var parameters = new[] { typeof(float) }.Concat(Nines).ToArray();
        foreach (bool tail in new[] { false, true })
        {
            var method = new DynamicMethod("forward", typeof(Vector4), parameters, typeof(Program).Module);
            var il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            for (int i = 9; i > 0; i--) il.Emit(OpCodes.Ldarg, (short)i);
            if (tail) il.Emit(OpCodes.Tailcall);
            il.Emit(OpCodes.Call, nine);
            il.Emit(OpCodes.Ret);
            var forward = (Func<float, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4>)method.CreateDelegate(
                typeof(Func<float, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4, Vector4>));
            // The factors the other way round: 165.
            Same("forward", forward(2, V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9)), 330, 420, 510, 600);
            Same("invoke", (Vector4)method.Invoke(null, new object[] { 1f, V(1), V(2), V(3), V(4), V(5), V(6), V(7), V(8), V(9) }), 165, 210, 255, 300);
        }
        // Down(n, v, r) = n == 0 ? v : tail. Down(n - 1, v + r.Origin, r): a struct in the thread's buffer beside a vector in a register.
        var types = new[] { typeof(int), typeof(Vector3), typeof(Ray) };
        var down = new DynamicMethod("down", typeof(Vector3), types, typeof(Program).Module);
        var body = down.GetILGenerator();
        var more = body.DefineLabel();
        body.Emit(OpCodes.Ldarg_0); body.Emit(OpCodes.Brtrue, more); body.Emit(OpCodes.Ldarg_1); body.Emit(OpCodes.Ret);
        body.MarkLabel(more);
        body.Emit(OpCodes.Ldarg_0); body.Emit(OpCodes.Ldc_I4_1); body.Emit(OpCodes.Sub);
        body.Emit(OpCodes.Ldarg_1); body.Emit(OpCodes.Ldarg_2); body.Emit(OpCodes.Ldfld, typeof(Ray).GetField("Origin"));
        body.Emit(OpCodes.Call, typeof(Vector3).GetMethod("op_Addition"));
        body.Emit(OpCodes.Ldarg_2); body.Emit(OpCodes.Tailcall); body.Emit(OpCodes.Call, down); body.Emit(OpCodes.Ret);
        Same("tail calls", ((Func<int, Vector3, Ray, Vector3>)down.CreateDelegate(typeof(Func<int, Vector3, Ray, Vector3>)))(100000, Vector3.Zero, new Ray(W(1), W(9))), 100000, 200000, 300000);
        var indirect = new DynamicMethod("indirect", typeof(Vector4), new[] { typeof(IntPtr), typeof(Vector4), typeof(Vector4) }, typeof(Program).Module);
        body = indirect.GetILGenerator();
        body.Emit(OpCodes.Ldarg_1); body.Emit(OpCodes.Ldarg_2); body.Emit(OpCodes.Ldarg_0);
        body.EmitCalli(OpCodes.Calli, CallingConventions.Standard, typeof(Vector4), new[] { typeof(Vector4), typeof(Vector4) }, null);
        body.Emit(OpCodes.Ret);
        var target = typeof(Vector4).GetMethod("op_Subtraction").MethodHandle.GetFunctionPointer();
        Same("calli", ((Func<IntPtr, Vector4, Vector4, Vector4>)indirect.CreateDelegate(typeof(Func<IntPtr, Vector4, Vector4, Vector4>)))(target, V(9), V(2)), 7, 7, 7, 7);
    }

    static void Proxies()
    {
        var local = new Local { Field = V(1) };
        Same("by reference", local.Add(V(1), U(2), 3), 4, 7, 9, 8);
        var proxy = (Local)new Echo().GetTransparentProxy();
        Same("proxy", proxy.Add(V(1), U(2), 3), 5, 9, 9, 12);
        foreach (Local one in new[] { local, proxy }) checks += one.Add(V(1), U(2), 3).X == (one == local ? 4 : 5) ? 1 : throw new Exception("proxy");
        Func<Vector4, Vector2, int, Vector4> add = proxy.Add;
        Same("delegate of a proxy", add(V(1), U(2), 3), 5, 9, 9, 12);
    }

    static IEnumerable<Vector4> Series(Vector4 start, Vector3 step)
    {
        for (Vector4 v = start; v.X < 20; v += new Vector4(step, 1)) { if (v.X > 10) GC.Collect(); yield return v; }
    }

    static async Task<Vector3> Later(Vector3 v, int n)
    {
        if (n == 0) { await Task.Yield(); return v; }
        Vector3 before = await Later(v + Vector3.One, n - 1);
        return before + v;
    }

    static void Suspended()
    {
        Same("series", Series(V(0), W(1)).Aggregate((a, b) => a + b), 190, 2 * 190 + 20, 3 * 190 + 40, 190 + 60);
        Same("async", Later(W(0), 10).Result, 55, 66, 77);
    }

    static void Exceptions()
    {
        float a = 1, b = 2, sum = 1, last = 2;
        for (int i = 0; i < 12; i++)
        {
            if (i % 3 == 1) sum += ((sum + b) + last).ToString().Length; else { sum = sum + b; last = sum; }
            last += 1;
        }
        Same("try", Calls.InTry(new Vector4(a), new Vector4(b), 12), sum + last, sum + last, sum + last, sum + last);
        var kept = new List<object>();
        var x = V(1);
        var y = W(5);
        for (int i = 0; i < 3; i++) x = Calls.Collects(x, "word" + i, y, kept) + x;
        Same("collections", x, 8 + 7 * 5, 16 + 7 * 6, 24 + 7 * 7, 32 + 7 * 5);
        Same("collections", kept.Count(o => ((object[])o).Length == 10), 60);
    }

    static void Threads()
    {
        var threads = new Thread[6];
        var sums = new Vector4[threads.Length];
        for (int i = 0; i < threads.Length; i++)
        {
            int number = i;
            threads[i] = new Thread(o =>
            {
                var sum = (Vector4)o;
                for (int k = 0; k < 2000; k++)
                {
                    sum = Calls.Nine(1, sum, V(number), Vector4.Zero, Vector4.Zero, Vector4.Zero, Vector4.Zero, Vector4.Zero, Vector4.Zero, Vector4.Zero);
                    if (k % 500 == 0) Thread.Yield();
                }
                sums[number] = sum;
            });
            threads[i].Start(V(i));
        }
        foreach (var thread in threads) thread.Join();
        for (int i = 0; i < threads.Length; i++) Same("thread", sums[i], i + 4000 * i, i + 1 + 4000 * (i + 1), i + 2 + 4000 * (i + 2), i + 3 + 4000 * (i + 3));
    }

    static void Main(string[] args)
    {
        foreach (var part in new Action[] { Static, Generic, Virtual, Delegates, Reflection, DynamicMethods, Proxies, Suspended, Exceptions, Threads })
        {
            checks = 0;
            part();
            Console.WriteLine(part.Method.Name + ": " + checks);
        }
        if (args.Length > 0) return;
        var start = new ProcessStartInfo("/proc/self/exe", Assembly.GetExecutingAssembly().Location + " again") { UseShellExecute = false, RedirectStandardOutput = true };
        start.EnvironmentVariables["SAKI_NO_SIMD"] = "1";
        using (var process = Process.Start(start))
        {
            Console.WriteLine("without vectors:");
            Console.Write(process.StandardOutput.ReadToEnd());
            process.WaitForExit();
            Console.WriteLine(process.ExitCode);
        }
    }
}
