// UnsafeAccessorTypeAttribute (.NET 10): accessors to members of classes that they cannot name, also of generic ones.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

static class Test
{
    [UnsafeAccessor(UnsafeAccessorKind.Constructor)]
    [return: UnsafeAccessorType("Hidden+Plain")]
    static extern object MakePlain(int number);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Add")]
    static extern int Add([UnsafeAccessorType("Hidden+Plain")] object target, int number);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "number")]
    static extern ref int Number([UnsafeAccessorType("Hidden+Plain, unsafe-accessor-types")] object target);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Join")]
    static extern string Join([UnsafeAccessorType("Hidden+Plain")] object type, [UnsafeAccessorType("Hidden+Plain[]")] object plains);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "MakeList")]
    [return: UnsafeAccessorType("System.Collections.Generic.List`1[[Hidden+Plain]]")]
    static extern object MakeList([UnsafeAccessorType("Hidden+Plain")] object type, int count);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Sum")]
    static extern int Sum([UnsafeAccessorType("Hidden+Plain")] object type, [UnsafeAccessorType("System.Collections.Generic.List`1[[Hidden+Plain, unsafe-accessor-types]], System.Private.CoreLib")] object list);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Count")]
    static extern int Count([UnsafeAccessorType("Hidden+Plain")] object type, [UnsafeAccessorType("System.Collections.Generic.Dictionary`2[[System.String, System.Private.CoreLib],[Hidden+Plain[]]], System.Private.CoreLib")] object table);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "MakeTable")]
    [return: UnsafeAccessorType("System.Collections.Generic.Dictionary`2[[System.String],[Hidden+Plain[]]]")]
    static extern object MakeTable([UnsafeAccessorType("Hidden+Plain")] object type);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "MakeArray")]
    [return: UnsafeAccessorType("Hidden+Plain[]")]
    static extern object MakeArray([UnsafeAccessorType("Hidden+Plain")] object type, int count);

    // A closed generic class, by an accessor of a class that is not generic.
    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Describe")]
    static extern string DescribeInt([UnsafeAccessorType("Hidden+Box`1[[System.Int32]]")] object type);

    [UnsafeAccessor(UnsafeAccessorKind.Constructor)]
    [return: UnsafeAccessorType("Hidden+Box`1[[System.Int32]]")]
    static extern object MakeIntBox(int value);

    // Of a method's parameter.
    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "First")]
    static extern T First<T>([UnsafeAccessorType("Hidden+Plain")] object type, [UnsafeAccessorType("Hidden+Box`1[[!!0]]")] object box);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Wrap")]
    [return: UnsafeAccessorType("Hidden+Box`1[[!!0]]")]
    static extern object Wrap<T>([UnsafeAccessorType("Hidden+Plain")] object type, T value);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "None")]
    static extern void Nothing([UnsafeAccessorType("Hidden+Plain")] object type);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Join")]
    static extern string NoSuchType([UnsafeAccessorType("Hidden+Missing`1[[System.Int32]]")] object type);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Join")]
    static extern string NoSuchArgument([UnsafeAccessorType("Hidden+Box`1[[Hidden+Missing]]")] object type);

    [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Join")]
    static extern string Malformed([UnsafeAccessorType("Hidden+Box`1[[System.Int32")] object type);

    static class Of<T>
    {
        [UnsafeAccessor(UnsafeAccessorKind.Constructor)]
        [return: UnsafeAccessorType("Hidden+Box`1[[!0]]")]
        public static extern object Make(T value);

        [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Get")]
        public static extern T Get([UnsafeAccessorType("Hidden+Box`1[[!0]]")] object box);

        [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "value")]
        public static extern ref T Value([UnsafeAccessorType("Hidden+Box`1[[!0]]")] object box);

        [UnsafeAccessor(UnsafeAccessorKind.StaticMethod, Name = "Describe")]
        public static extern string Describe([UnsafeAccessorType("Hidden+Box`1[[!0]]")] object type);

        [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Same")]
        public static extern bool Same([UnsafeAccessorType("Hidden+Box`1[[!0]]")] object box, [UnsafeAccessorType("Hidden+Box`1[[!0]]")] object other);

        [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Pair")]
        [return: UnsafeAccessorType("System.Collections.Generic.List`1[[Hidden+Box`1[[!0]]]]")]
        public static extern object Pair([UnsafeAccessorType("Hidden+Box`1[[!0]]")] object box);
    }

    static void Try(string title, Func<object> get)
    {
        try { Console.WriteLine(title + ": " + get()); }
        catch (Exception e) { Console.WriteLine(title + ": " + e.GetType().Name); }
    }

    static void Main()
    {
        object plain = MakePlain(3);
        Try("constructor", () => plain);
        Try("method", () => Add(plain, 4));
        Try("field", () => Number(plain)++ + Number(plain));
        Try("array", () => Join(null, MakeArray(null, 2)));
        Try("list", () => Sum(null, MakeList(null, 3)));
        Try("table", () => Count(null, MakeTable(null)));
        Try("wrong list", () => Sum(null, new List<string>()));
        Try("wrong target", () => Add("text", 1));
        Try("wrong field's target", () => Number(new int[1]));
        Try("null target", () => Add(null, 1));
        Try("null field's target", () => Number(null));
        Try("static's target", () => Join("text", MakeArray(null, 1)));
        Try("closed static", () => DescribeInt(null));
        Try("closed constructor", () => MakeIntBox(5));
        Try("method's parameter", () => Wrap(null, "text"));
        Try("method's parameter", () => First<int>(null, Of<int>.Make(8)));
        Try("method's parameter", () => First<string>(null, Of<string>.Make("eight")));
        Try("no such method", () => { Nothing(null); return null; });
        Try("no such type", () => NoSuchType(null));
        Try("no such argument", () => NoSuchArgument(null));
        Try("malformed", () => Malformed(null));
        Try("class's parameter", () => Of<int>.Make(6));
        Try("class's parameter", () => Of<string>.Get(Of<string>.Make("text")));
        Try("class's parameter", () => { object box = Of<long>.Make(1); Of<long>.Value(box) += 9; return Of<long>.Get(box); });
        Try("class's parameter", () => Of<List<int>>.Describe(null));
        Try("two", () => Of<int>.Same(Of<int>.Make(1), Of<int>.Make(1)) + " " + Of<string>.Same(Of<string>.Make("a"), Of<string>.Make("b")));
        Try("nested arguments", () => Of<int>.Pair(Of<int>.Make(2)));
    }
}

class Hidden
{
    class Plain
    {
        int number;
        Plain(int number) => this.number = number;
        int Add(int other) => number += other;
        static string Join(Plain[] plains) => string.Join(",", (object[])plains);
        static Plain[] MakeArray(int count) => Array.ConvertAll(new int[count], _ => new Plain(count));
        static List<Plain> MakeList(int count) => new(MakeArray(count));
        static int Sum(List<Plain> list) { int sum = 0; foreach (Plain plain in list) sum += plain.number; return sum; }
        static Dictionary<string, Plain[]> MakeTable() => new() { ["a"] = MakeArray(4) };
        static int Count(Dictionary<string, Plain[]> table) => table["a"].Length;
        static T First<T>(Box<T> box) => box.Value;
        static Box<T> Wrap<T>(T value) => new(value);
        public override string ToString() => "plain " + number;
    }

    class Box<T>
    {
        T value;
        public Box(T value) => this.value = value;
        public T Value => value;
        T Get() => value;
        static string Describe() => typeof(T).ToString();
        bool Same(Box<T> other) => EqualityComparer<T>.Default.Equals(value, other.value);
        List<Box<T>> Pair() => new() { this, this };
        public override string ToString() => "box of " + value;
    }
}
