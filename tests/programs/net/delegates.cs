using System;
using System.Linq;
using System.Reflection;

// Delegates: lists, equality, binding by reflection, open and closed ones.
class Delegates
{
    delegate int Binary(int a, int b);
    delegate string OpenText(string s);
    class Holder { public int N; public int Add(int a, int b) => N + a + b; public virtual string Name() => "base"; }
    class Derived : Holder { public override string Name() => "derived"; }
    struct Value { public int N; public int Get() => N; }
    static int Sub(int a, int b) => a - b;
    static string Closed(string first, int n) => first + n;
    static void Generic<T>(T value) => Console.WriteLine($"{typeof(T)} {value}");

    static void Main()
    {
        Binary add = new Holder { N = 100 }.Add, sub = Sub;
        Console.WriteLine($"{add(1, 2)} {sub(5, 3)} {add.Target!.GetType().Name} {sub.Target == null} {sub.Method.Name}");
        var both = (Binary)Delegate.Combine(add, sub)!;
        Console.WriteLine($"{both(7, 2)} {both.GetInvocationList().Length} {both.Method.Name} {both.HasSingleTarget}");
        Console.WriteLine($"{(both - sub)!.Equals(add)} {both - add == sub} {both == add + sub} {both.GetHashCode() == (add + sub).GetHashCode()} {both - both == null}");
        Console.WriteLine($"{new Binary(Sub) == sub} {new Binary(Sub).Equals(sub)} {new Binary(Sub).GetHashCode() == sub.GetHashCode()} {add == new Holder { N = 100 }.Add}");
        Action list = () => Console.Write("a");
        list += () => Console.Write("b");
        list += list;
        list();
        Console.WriteLine();
        foreach (Action single in Delegate.EnumerateInvocationList(list)) single();
        Console.WriteLine();
        var flags = BindingFlags.NonPublic | BindingFlags.Static;
        var bySub = (Binary)Delegate.CreateDelegate(typeof(Binary), typeof(Delegates).GetMethod("Sub", flags)!);
        var byName = (Binary)Delegate.CreateDelegate(typeof(Binary), typeof(Delegates), "sub", true)!;
        var byTarget = (Binary)Delegate.CreateDelegate(typeof(Binary), new Holder { N = 1 }, "Add");
        Console.WriteLine($"{bySub(9, 4)} {byName(9, 4)} {byTarget(1, 1)} {bySub == sub}");
        var open = typeof(Holder).GetMethod("Name")!.CreateDelegate<Func<Holder, string>>();
        Console.WriteLine($"{open(new Holder())} {open(new Derived())} {open.Target == null}");
        var closed = typeof(Delegates).GetMethod("Closed", flags)!.CreateDelegate<Func<int, string>>("n=");
        Console.WriteLine($"{closed(4)} {closed.Target}");
        Console.WriteLine(Delegate.CreateDelegate(typeof(OpenText), typeof(Delegates).GetMethod("Sub", flags)!, false) == null);
        try { Delegate.CreateDelegate(typeof(OpenText), typeof(Delegates).GetMethod("Sub", flags)!); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
        Console.WriteLine(both.DynamicInvoke(3, 1));
        try { sub.DynamicInvoke(1); } catch (TargetParameterCountException e) { Console.WriteLine(e.Message); }
        Func<int> get = new Value { N = 5 }.Get;
        Console.WriteLine($"{get()} {get.Target}");
        typeof(Delegates).GetMethod("Generic", flags)!.MakeGenericMethod(typeof(int)).CreateDelegate<Action<int>>()(3);
        EventHandler? handlers = null;
        EventHandler one = (s, e) => Console.Write("1"), two = (s, e) => Console.Write("2");
        handlers += one; handlers += two; handlers += one; handlers -= one;
        handlers(null, EventArgs.Empty);
        Console.WriteLine();
        handlers -= two; handlers -= one;
        Console.WriteLine(handlers == null);
        Func<object> covariant = () => "text";
        Func<object, string> from = o => o + "!"; Func<string, object> contra = from;
        Console.WriteLine($"{covariant()} {contra("x")}");
        try { Delegate.Combine(add, list); } catch (ArgumentException e) { Console.WriteLine(e.Message); }
        unsafe { delegate*<int, int, int> pointer = &Sub; Console.WriteLine(pointer(3, 1)); }
    }
}
