// Delegates: static and instance targets, virtual and interface methods, value-type targets, multicast, equality, null.
using System;
using System.Collections.Generic;

delegate int Op(int a, int b);
delegate void RefAction<T>(ref T x, out string y);
delegate string StringOp(string s);

interface INamed { string Name(); }

class Base : INamed
{
    public readonly int N;
    public Base(int n) { N = n; }
    public virtual string Name() { return "base" + N; }
    public int Add(int a, int b) { return a + b + N; }
}

class Derived : Base
{
    public Derived(int n) : base(n) { }
    public override string Name() { return "derived" + N; }
    public Func<string> BaseName() { return base.Name; }
}

struct Counter
{
    public int N;
    public int Next() { return ++N; }
}

static class Extensions
{
    public static string Twice(this string s) { return s + s; }
}

static class Program
{
    static int Sub(int a, int b) { return a - b; }
    static void Change(ref int x, out string y) { x *= 2; y = "changed"; }
    static long Many(int a, long b, double c, string d, byte e, object f, float g, decimal h) { return a + b + (long)c + d.Length + e + f.GetHashCode() + (long)g + (long)h; }
    static event Action<string> Changed;

    static void Main()
    {
        Op sub = Sub, add = new Base(100).Add;
        Console.WriteLine("{0} {1} {2}", sub(5, 3), add(5, 3), sub.Invoke(1, 2));
        Base d = new Derived(1);
        Func<string> name = d.Name, named = ((INamed)d).Name;
        Console.WriteLine("{0} {1} {2}", name(), named(), ((Derived)d).BaseName()());
        RefAction<int> change = Change;
        int x = 21;
        string y;
        change(ref x, out y);
        Console.WriteLine("{0} {1}", x, y);
        Func<int, long, double, string, byte, object, float, decimal, long> many = Many;
        Console.WriteLine(many(1, 2, 3.9, "four", 5, 6, 7.9f, 8.9m));

        Counter counter = new Counter();
        Func<int> next = counter.Next;
        next();
        Console.WriteLine("{0} {1}", next(), counter.N);
        Func<string> twice = "ab".Twice;
        Console.WriteLine(twice());
        StringOp open = (StringOp)Delegate.CreateDelegate(typeof(StringOp), typeof(string).GetMethod("Trim", Type.EmptyTypes));
        Console.WriteLine("[{0}]", open("  x "));
        Func<INamed, string> openVirtual = (Func<INamed, string>)Delegate.CreateDelegate(typeof(Func<INamed, string>), typeof(INamed).GetMethod("Name"));
        Console.WriteLine("{0} {1}", openVirtual(d), openVirtual(new Base(3)));
        Func<int, int> closedStatic = (Func<int, int>)Delegate.CreateDelegate(typeof(Func<int, int>), null, typeof(Math).GetMethod("Abs", new[] { typeof(int) }));
        Console.WriteLine(closedStatic(-9));

        string log = "";
        Action a = () => log += "a", b = () => log += "b", ab = a + b;
        ab += a;
        ab();
        Console.WriteLine("{0} {1}", log, ab.GetInvocationList().Length);
        log = "";
        (ab - a)();
        Console.WriteLine(log);
        log = "";
        (ab - (a + b))();
        Console.WriteLine("{0} {1} {2}", log, a - a == null, ReferenceEquals(a - b, a));
        Func<int> last = () => 1;
        last += () => 2;
        Console.WriteLine(last());
        Action failing = () => log = "first";
        failing += () => { throw new InvalidOperationException("second"); };
        failing += () => log = "third";
        try
        {
            failing();
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine("{0} {1}", e.Message, log);
        }

        Op sub2 = Sub;
        Console.WriteLine("{0} {1} {2}", sub == sub2, sub.Equals(add), sub.GetHashCode() == sub2.GetHashCode());
        Console.WriteLine("{0} {1}", new Func<string>(d.Name) == new Func<string>(d.Name), new Func<string>(d.Name) == new Func<string>(new Derived(1).Name));
        Console.WriteLine("{0} {1} {2}", sub.Method.Name, sub.Target == null, ((Base)add.Target).N);
        Console.WriteLine("{0}", sub.DynamicInvoke(9, 4));
        Changed += s => Console.Write("1:" + s + " ");
        Action<string> second = s => Console.WriteLine("2:" + s);
        Changed += second;
        Changed("event");
        Changed -= second;
        Changed("event");
        Console.WriteLine();
        Op none = null;
        try
        {
            none(1, 2);
        }
        catch (NullReferenceException)
        {
            Console.WriteLine("NullReferenceException");
        }
        try
        {
            new Func<string>(((Base)null).Name)();
        }
        catch (Exception e)
        {
            Console.WriteLine(e is NullReferenceException || e is ArgumentException);
        }
        List<Func<int, int>> pipeline = new List<Func<int, int>> { n => n + 1, n => n * 10, Math.Abs };
        int value = -3;
        foreach (Func<int, int> f in pipeline)
            value = f(value);
        Console.WriteLine(value);
        Comparison<string> compare = string.CompareOrdinal;
        Console.WriteLine(compare("a", "b") < 0);
    }
}
