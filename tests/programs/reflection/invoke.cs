// Late-bound use: Invoke with conversions and by-reference arguments, fields, properties, constructors, Activator.
using System;
using System.Collections.Generic;
using System.Reflection;

class Person
{
    string name;
    public int Age;
    public static string Species = "human";
    public Person() { name = "nobody"; }
    public Person(string name, int age) { this.name = name; Age = age; }
    public string Name { get { return name; } private set { name = value; } }
    public string Greet(string greeting) { return greeting + ", " + name; }
    public static long Sum(int a, long b, byte c) { return a + b + c; }
    public bool Swap(ref int a, out string b) { b = "was " + a; a = Age; return true; }
    public virtual string Virtual() { return "person"; }
    private string Secret(object o) { return "secret " + (o ?? "null"); }
    public T Echo<T>(T t) { return t; }
    public string Over(int x) { return "int"; }
    public string Over(string x) { return "string"; }
    public int? Maybe(int? x) { return x + 1; }
}

class Child : Person { public override string Virtual() { return "child"; } }
struct Pair { public int A; public string B; public Pair(int a, string b) { A = a; B = b; } public override string ToString() { return A + B; } }

static class Program
{
    static void Main()
    {
        Type type = typeof(Person);
        object p = Activator.CreateInstance(type, "Ada", 36);
        Console.WriteLine(type.GetMethod("Greet").Invoke(p, new object[] { "Hello" }));
        Console.WriteLine(type.GetMethod("Sum").Invoke(null, new object[] { 1, 2, (byte)3 }));
        object[] arguments = { 5, null };
        Console.WriteLine("{0} {1} {2}", type.GetMethod("Swap").Invoke(p, arguments), arguments[0], arguments[1]);
        Console.WriteLine(type.GetMethod("Virtual").Invoke(new Child(), null));
        Console.WriteLine(type.GetMethod("Secret", BindingFlags.NonPublic | BindingFlags.Instance).Invoke(p, new object[] { null }));
        Console.WriteLine(type.GetMethod("Echo").MakeGenericMethod(typeof(int)).Invoke(p, new object[] { 9 }));
        Console.WriteLine(type.GetMethod("Echo").MakeGenericMethod(typeof(string)).Invoke(p, new object[] { "echo" }));
        Console.WriteLine(type.GetMethod("Maybe").Invoke(p, new object[] { 4 }));
        Console.WriteLine(type.GetMethod("Maybe").Invoke(p, new object[] { null }) == null);
        Console.WriteLine(type.InvokeMember("Over", BindingFlags.InvokeMethod, null, p, new object[] { "x" }));

        FieldInfo age = type.GetField("Age"), name = type.GetField("name", BindingFlags.NonPublic | BindingFlags.Instance), species = type.GetField("Species");
        age.SetValue(p, 37);
        name.SetValue(p, "Lovelace");
        species.SetValue(null, "robot");
        Console.WriteLine("{0} {1} {2}", age.GetValue(p), name.GetValue(p), species.GetValue(null));
        PropertyInfo property = type.GetProperty("Name");
        property.SetValue(p, "Augusta", null);
        Console.WriteLine("{0} {1}", property.GetValue(p, null), ((Person)p).Name);
        object pair = Activator.CreateInstance(typeof(Pair), 1, "b");
        typeof(Pair).GetField("A").SetValue(pair, 7);
        Console.WriteLine("{0} {1}", pair, Activator.CreateInstance(typeof(Pair)));
        Console.WriteLine(typeof(Pair).GetMethod("ToString").Invoke(pair, null));
        System.Collections.IList list = (System.Collections.IList)Activator.CreateInstance(typeof(List<>).MakeGenericType(typeof(Pair)));
        list.Add(pair);
        Console.WriteLine("{0} {1}", list.Count, list[0]);
        ConstructorInfo constructor = type.GetConstructor(Type.EmptyTypes);
        Console.WriteLine(((Person)constructor.Invoke(null)).Name);
        Array array = Array.CreateInstance(typeof(Pair), 3);
        array.SetValue(pair, 2);
        Console.WriteLine(array.GetValue(2));
        Func<string, string> greet = (Func<string, string>)Delegate.CreateDelegate(typeof(Func<string, string>), p, type.GetMethod("Greet"));
        Console.WriteLine(greet("Hi"));
        foreach (Action bad in new Action[] { () => age.SetValue(p, "text"), () => age.GetValue(null), () => age.GetValue("not a person"), () => type.GetMethod("Over"), () => Activator.CreateInstance(typeof(IDisposable)), () => type.GetMethod("Greet").Invoke(null, new object[] { "x" }), () => Activator.CreateInstance(type, 1, 2, 3) })
        {
            try
            {
                bad();
                Console.Write("fine ");
            }
            catch (Exception e)
            {
                Console.Write(e.GetType().Name + " ");
            }
        }
        Console.WriteLine();
        Console.WriteLine(Enum.ToObject(typeof(DayOfWeek), 3));
    }
}
