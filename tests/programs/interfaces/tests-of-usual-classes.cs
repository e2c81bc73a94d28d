// Type tests and casts that meet objects of one class or two while they get hot, and then objects of others, null,
// arrays, boxed values and objects of classes that are made later.
using System;
using System.Collections;
using System.Collections.Generic;

interface IFirst { }
interface ISecond { }
interface IProducer<out T> { }
class Base { }
class First : Base, IFirst { }
class Both : Base, IFirst, ISecond { }
class Below : Both { }
class Strings : IProducer<string> { }
class Objects : IProducer<object> { }
struct Value : ISecond, IComparable
{
    public int CompareTo(object other) { return 0; }
}

static class Program
{
    // A bit for each test that holds.
    static int Tests(object o)
    {
        int bits = 0;
        if (o is IFirst) bits |= 1;
        if (o is ISecond) bits |= 2;
        if (o is Base) bits |= 4;
        if (o is Both) bits |= 8;
        if (o is IProducer<object>) bits |= 16;
        if (o is IProducer<string>) bits |= 32;
        if (o is IComparable) bits |= 64;
        if (o is object[]) bits |= 128;
        if (o is IEnumerable<object>) bits |= 256;
        if (o is int[]) bits |= 512;
        if (o is IList) bits |= 1024;
        if (o is string) bits |= 2048;
        return bits;
    }

    static string Casts(object o)
    {
        string done = "";
        try
        {
            IFirst first = (IFirst)o;
            done += "first";
            ISecond second = (ISecond)o;
            done += " second";
            Both both = (Both)o;
            done += " both " + (ReferenceEquals(first, o) && ReferenceEquals(second, both));
        }
        catch (InvalidCastException)
        {
            done += " no";
        }
        return done;
    }

    static T As<T>(object o) where T : class { return o as T; }

    static bool Generic(object o)
    {
        return As<IFirst>(o) != null && As<ISecond>(o) == null;
    }

    // Values are on the stack while the test is made.
    static int Amid(object[] objects, int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum = sum * 5 + (i ^ (objects[i % objects.Length] is ISecond ? i + 1 : Count(objects[i % objects.Length] as IFirst)));
        return sum;
    }

    static int Count(IFirst first) { return first == null ? 7 : 11; }

    static void Main()
    {
        object[] usual = { new First(), new Both() };
        for (int i = 0; i < 60000; i++)
        {
            object o = usual[i & 1];
            Tests(o);
            Generic(o);
        }
        for (int i = 0; i < 5000; i++)
            Casts(usual[1]);
        for (int i = 0; i < 40; i++)
            Amid(usual, 1000);
        object[] others =
        {
            usual[0], usual[1], null, new Base(), new Below(), new Strings(), new Objects(), new Value(), 5, "text",
            new object[1], new string[1], new int[1], new uint[1], new First[1], new List<object>(), new List<string>(),
            new ArrayList(), new object(), Activator.CreateInstance(typeof(List<>).MakeGenericType(typeof(Both))),
        };
        for (int round = 0; round < 2; round++)
            foreach (object o in others)
                Console.WriteLine((o == null ? "null" : o.GetType().Name) + ": " + Tests(o) + ", " + Casts(o) + ", " + Generic(o));
        Console.WriteLine(Amid(usual, 1001) + " " + Amid(others, 1001));
    }
}
