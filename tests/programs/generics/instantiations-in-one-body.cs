// What generic code does where it depends on its type arguments, for several reference types one after the other: a body
// that serves them all must find the exact types, statics and methods of each.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Reflection;

class Animal { public virtual string Sound() { return "?"; } public override string ToString() { return GetType().Name; } }
class Dog : Animal, IComparable<Dog> {
    public override string Sound() { return "woof"; }
    public int CompareTo(Dog other) { return 0; }
}
sealed class Cat : Animal { public override string Sound() { return "meow"; } }
class FirstException : Exception { public FirstException() : base("first") { } }
class SecondException : Exception { public SecondException() : base("second") { } }

interface ISource<out T> { T Get(); }
interface ISink<in T> { string Put(T item); }
class Source<T> : ISource<T> { readonly T item; public Source(T item) { this.item = item; } public T Get() { return item; } }
class Sink<T> : ISink<T> { public string Put(T item) { return typeof(T).Name + "<-" + item; } }

class Statics<T> {
    public static int Count;
    public static readonly string Name = "statics of " + typeof(T).Name;
    [ThreadStatic] static int t_count;
    public static string Next() { return Name + " " + ++Count + " " + ++t_count; }
}
class Eager<T> {
    public static readonly string Made;
    static Eager() { Console.WriteLine("  .cctor of Eager<" + typeof(T).Name + ">"); Made = typeof(T).Name; }
    public static string Get() { return Made; }
}
struct Pair<A, B> {
    public A First; public B Second;
    public Pair(A first, B second) { First = first; Second = second; }
    public Type Kind() { return typeof(Pair<A, B>); }
}
class Box<T> {
    public T Item;
    public Box<T> Next;
    public Box(T item) { Item = item; }
    public virtual string Describe() { return "Box<" + typeof(T).Name + ">"; }
    public virtual U Convert<U>(Func<T, U> convert) { return convert(Item); }
    public Box<Box<T>> Wrap() { return new Box<Box<T>>(this); }
    public bool IsSame(object other) { return other is Box<T>; }
    public class Nested { public Type Of() { return typeof(T); } }
}
class Crate<T> : Box<T> {
    public Crate(T item) : base(item) { }
    public override string Describe() { return "Crate of " + base.Describe(); }
    public override U Convert<U>(Func<T, U> convert) { Console.WriteLine("  " + typeof(T).Name + " -> " + typeof(U).Name); return base.Convert(convert); }
}

static class Program {
    static string Types<T>() {
        return typeof(T).Name + " " + typeof(T[]).Name + " " + typeof(List<T>).FullName.Contains(typeof(T).FullName) + " " + typeof(List<>).Name
            + " " + typeof(Dictionary<,>).GetGenericArguments()[0].Name + " " + (typeof(T) == typeof(string)) + " " + (typeof(object) == typeof(T)) + " " + (typeof(T) != typeof(int)) + " " + typeof(T).IsValueType;
    }
    static string Tests<T>(object o) where T : class {
        var text = (o is T) + " " + ((o as T) != null) + " " + (o is T[]) + " " + (o is IEnumerable<T>) + " " + (o is List<T>);
        try { text += " " + ((T)o == null ? "null" : "cast"); } catch (InvalidCastException) { text += " refused"; }
        try { text += " " + ((T[])o == null ? "null" : "array"); } catch (InvalidCastException) { text += " refused"; }
        return text;
    }
    static string MadeHere<T>() {
        object array = new T[1], list = new List<T>(), pair = new Pair<T, int>();
        return (array is object[]) + " " + (array is string[]) + " " + (array is Animal[]) + " " + (list is List<string>) + " " + (list is List<Animal>) + " " + (list is IEnumerable<Animal>) + " " + (pair is Pair<string, int>)
            + " " + array.GetType().Name + " " + list.GetType().GetGenericArguments()[0].Name + " " + pair.GetType().GetGenericArguments()[0].Name;
    }
    static string StoreInto<T>(T[] array, T item) {
        try { array[0] = item; return "stored " + array[0]; } catch (ArrayTypeMismatchException) { return "mismatch"; }
    }
    static string ElementAddress<T>(T[] array, T item) {
        try { Set(ref array[0], item); return "set " + array[0]; } catch (ArrayTypeMismatchException) { return "mismatch"; }
    }
    static void Set<T>(ref T place, T item) { place = item; }
    static string Catch<T>(Action action) where T : Exception {
        try { action(); return "nothing"; }
        catch (T e) { return "caught " + typeof(T).Name + ": " + e.Message; }
        catch (Exception e) { return "other " + e.GetType().Name; }
        finally { Console.WriteLine("  finally " + typeof(T).Name); }
    }
    static string Filter<T>(Action action) where T : Exception {
        try { action(); return "nothing"; }
        catch (Exception e) when (e is T && Log(typeof(T))) { return "filtered " + typeof(T).Name; }
        catch (Exception e) { return "not " + typeof(T).Name; }
    }
    static bool Log(Type type) { Console.WriteLine("  filter " + type.Name); return true; }
    static string Constrained<T>(T item) where T : Animal { return item.Sound() + " " + item.ToString() + " " + item.Equals(item) + " " + (item.GetHashCode() == item.GetHashCode()) + " " + item.GetType().Name; }
    static int Compare<T>(T a, T b) where T : IComparable<T> { return Math.Sign(a.CompareTo(b)); }
    static bool Same<T>(T a, T b) { return EqualityComparer<T>.Default.Equals(a, b); }
    static T Make<T>() where T : new() { return new T(); }
    static T Default<T>() { return default(T); }
    static string Method<T>() { return MethodBase.GetCurrentMethod().Name; }
    static Func<T, string> Closure<T>(T captured) { return other => typeof(T).Name + " " + captured + " " + other; }
    static Func<string> Group<T>() { return Types<T>; }
    static IEnumerable<T> Repeat<T>(T item, int times) { for (int i = 0; i < times; i++) yield return item; }
    static int Depth<T>(int n) { return n == 0 ? typeof(T).FullName.Split('[').Length : Depth<Box<T>>(n - 1); }
    static int Recursive<T>(int n) { return n == 0 ? typeof(T).Name.Length : Recursive<T>(n - 1); }
    static string Variant<T>(ISource<Animal> source, ISink<T> sink, T item) { return source.Get().Sound() + " " + sink.Put(item); }
    static void Throws<T>() { throw new InvalidOperationException(typeof(T).Name); }
    static string Locked<T>() { lock (typeof(T)) return "locked " + typeof(T).Name; }
    static string Sorted<T>(IEnumerable<T> items, Func<T, string> key) { return string.Join(",", items.OrderBy(key).Select(key)); }

    static void All<T>(T item, T other, object foreign) where T : class {
        Console.WriteLine(Types<T>());
        Console.WriteLine(Tests<T>(item) + " | " + Tests<T>(foreign) + " | " + Tests<T>(null) + " | " + Tests<T>(new T[1]) + " | " + Tests<T>(new List<T>()));
        Console.WriteLine(MadeHere<T>());
        Console.WriteLine(Statics<T>.Next() + ", " + Statics<T>.Next() + ", " + Statics<T>.Count);
        Console.WriteLine(Eager<T>.Get());
        Console.WriteLine(new Pair<T, int>(item, 1).Kind().GetGenericArguments()[0].Name + " " + new Pair<int, T>(1, item).Second);
        Box<T> box = new Box<T>(item), crate = new Crate<T>(item);
        Console.WriteLine(box.Describe() + ", " + crate.Describe() + ", " + crate.Convert(x => x.ToString()) + ", " + box.Convert(x => 1) + ", " + box.Wrap().Describe() + ", " + box.Wrap().Item.Describe());
        Console.WriteLine(box.IsSame(crate) + " " + box.IsSame(foreign) + " " + box.IsSame(new Box<object>(1)) + " " + new Box<T>.Nested().Of().Name);
        Console.WriteLine(Same(item, item) + " " + Same(item, other) + " " + Same(item, null) + " " + (Default<T>() == null));
        Console.WriteLine(Method<T>() + " " + Closure(item)(other) + " " + Group<T>()().Length + " " + string.Join("", Repeat(item, 2)));
        Console.WriteLine(Depth<T>(5) + " " + Recursive<T>(3) + " " + Locked<T>() + " " + Sorted(new[] { item, other }, x => x.ToString()));
        try { Throws<T>(); } catch (InvalidOperationException e) { Console.WriteLine(e.Message + " " + new StackTrace(e).GetFrame(0).GetMethod().Name); }
        var map = new Dictionary<T, int> { { item, 1 } };
        int found;
        Console.WriteLine(map.TryGetValue(item, out found) + " " + found + " " + map.ContainsKey(other) + " " + map.Keys.First());
        var back = new Dictionary<int, T> { { 1, item } };
        Console.WriteLine(back[1] + " " + back.ContainsValue(item) + " " + new HashSet<T>(new[] { item, item, other }).Count + " " + new List<T> { item, other }.IndexOf(other));
        Console.WriteLine();
    }

    static void Main() {
        All<string>("a", "b", 1);
        All<object>(1, 2, "x");
        All<Animal>(new Dog(), new Cat(), "x");
        All<Cat>(new Cat(), new Cat(), new Dog());
        All<Version>(new Version(1, 2), new Version(1, 3), "x");
        All<int[]>(new[] { 1 }, new[] { 2 }, new uint[1]);
        All<Func<string>>(() => "f", () => "g", "x");

        Console.WriteLine(StoreInto<object>(new string[1], "s") + ", " + StoreInto<object>(new string[1], 1) + ", " + StoreInto<Animal>(new Dog[1], new Cat()) + ", " + StoreInto<string>(new string[1], null));
        Console.WriteLine(ElementAddress<object>(new object[1], 1) + ", " + ElementAddress<object>(new string[1], "s") + ", " + ElementAddress<Animal>(new Cat[1], new Cat()) + ", " + ElementAddress<Cat>(new Cat[1], new Cat()));
        Action first = () => { throw new FirstException(); }, second = () => { throw new SecondException(); };
        foreach (var action in new[] { first, second }) {
            Console.WriteLine(Catch<FirstException>(action) + ", " + Catch<SecondException>(action) + ", " + Catch<Exception>(action));
            Console.WriteLine(Filter<FirstException>(action) + ", " + Filter<SecondException>(action) + ", " + Filter<Exception>(action));
        }
        Console.WriteLine(Constrained(new Animal()) + ", " + Constrained(new Dog()) + ", " + Constrained(new Cat()));
        Console.WriteLine(Compare("a", "b") + " " + Compare(new Dog(), new Dog()) + " " + Compare(new Version(2, 0), new Version(1, 0)) + " " + Compare(3, 2));
        Console.WriteLine(Make<Animal>() + " " + Make<Dog>() + " " + Make<Cat>() + " " + Make<object>().GetType().Name + " " + Make<int>());
        Console.WriteLine(Variant(new Source<Dog>(new Dog()), new Sink<object>(), "s") + ", " + Variant<Cat>(new Source<Cat>(new Cat()), new Sink<Animal>(), new Cat()) + ", " + Variant<Animal>(new Source<Animal>(new Animal()), new Sink<Animal>(), new Dog()));
    }
}
