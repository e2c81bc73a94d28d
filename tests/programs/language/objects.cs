// System.Object members, GetType, reference equality, MemberwiseClone, hash codes, nested and abstract types.
using System;
using System.Collections.Generic;

class Plain { public int A = 1; public string B = "b"; public Plain Copy() { return (Plain)MemberwiseClone(); } }
class Sub : Plain { public int[] C = { 1, 2 }; }
class Outer<T> { public class Inner { } public struct S { } public enum E { X } public delegate void D(); public interface I { } }
abstract class Template
{
    public string Run() { return Before() + Body() + After(); }
    protected virtual string Before() { return "<"; }
    protected abstract string Body();
    protected internal virtual string After() { return ">"; }
}
class Concrete : Template { protected override string Body() { return "body"; } protected internal override string After() { return "/>" + base.After(); } }

static class Program
{
    static void Main()
    {
        Plain p = new Sub { A = 5 };
        Sub copy = (Sub)p.Copy();
        copy.A = 6;
        copy.C[0] = 9;
        Console.WriteLine("{0} {1} {2} {3}", p.A, ((Sub)p).C[0], ReferenceEquals(p, copy), ReferenceEquals(p.B, copy.B));
        Console.WriteLine("{0} {1} {2}", p.GetType(), p.GetType() == typeof(Sub), p.GetType() == copy.GetType());
        Console.WriteLine("{0} {1}", p.Equals(p), p.Equals(copy));
        int hash = p.GetHashCode();
        GC.Collect();
        Console.WriteLine("{0} {1}", hash == p.GetHashCode(), new object().GetHashCode() == new object().GetHashCode());
        HashSet<int> hashes = new HashSet<int>();
        List<object> objects = new List<object>();
        for (int i = 0; i < 1000; i++)
        {
            object o = new object();
            objects.Add(o);
            hashes.Add(o.GetHashCode());
        }
        GC.Collect();
        int stable = 0;
        foreach (object o in objects)
            if (hashes.Contains(o.GetHashCode()))
                stable++;
        Console.WriteLine("{0} {1}", hashes.Count > 900, stable);
        Console.WriteLine("{0} {1} {2}", typeof(Outer<int>.Inner), typeof(Outer<string>.S).IsValueType, typeof(Outer<>.E).IsGenericType);
        Console.WriteLine("{0} {1}", typeof(Outer<int>.D).BaseType, typeof(Outer<int>.I).IsInterface);
        Console.WriteLine(new Concrete().Run());
        Console.WriteLine("{0} {1} {2}", new Plain(), new int[0], new List<string>());
        Console.WriteLine("{0} {1}", new { A = 1, B = "x" }.Equals(new { A = 1, B = "x" }), new { A = 1 }.GetHashCode() == new { A = 1 }.GetHashCode());
        Console.WriteLine("{0} {1}", Tuple.Create(1, "a").Equals(Tuple.Create(1, "a")), Tuple.Create(1, 2, 3));
        object none = null;
        Console.WriteLine("{0} {1} {2}", object.Equals(none, null), object.Equals(1, 1), none is object);
        lock (p)
            lock (p)
                Console.WriteLine("{0} {1}", hash == p.GetHashCode(), System.Threading.Monitor.IsEntered(p));
        Console.WriteLine(System.Threading.Monitor.IsEntered(p));
    }
}
