// Copies between arrays of other element types: converted, checked element by element, or refused. All but equal
// types failed.
using System;

interface INamed { }
class Animal : INamed { }
class Dog : Animal { }
class Box<T> { }

static class Program
{
    static void Copy(Array from, Array to)
    {
        string words = from.GetType() + " to " + to.GetType() + ": ";
        try
        {
            Array.Copy(from, to, from.Length);
            Console.WriteLine(words + to.GetValue(0));
        }
        catch (Exception e) when (e is InvalidCastException or ArrayTypeMismatchException)
        {
            Console.WriteLine(words + e.GetType().Name);
        }
    }

    static void Main()
    {
        Copy(new[] { new Dog() }, new Animal[1]);
        Copy(new Animal[] { new Dog() }, new Dog[1]);
        Copy(new[] { new Animal() }, new Dog[1]);
        Copy(new INamed[] { new Dog() }, new Animal[1]);
        Copy(new Animal[] { new Dog() }, new INamed[1]);
        Copy(new object[] { 1 }, new int[1]);
        Copy(new object[] { "one" }, new int[1]);
        Copy(new[] { 1 }, new object[1]);
        Copy(new[] { 1 }, new long[1]);
        Copy(new[] { 1L }, new int[1]);
        Copy(new[] { uint.MaxValue }, new int[1]);
        Copy(new[] { DayOfWeek.Friday }, new int[1]);
        Copy(new[] { 1 }, new DayOfWeek[1]);
        Copy(new[] { new Box<string>() }, new object[1]);
        Copy(new[] { new[] { "one" } }, new object[1][]);
        Copy(new[] { new[] { 1 } }, new object[1]);
        Copy(new int?[] { 1 }, new object[1]);
        Copy(new object[] { 1 }, new int?[1]);
        Copy(new byte[] { 1 }, new IComparable[1]);
        Copy(new[] { new Box<Animal>() }, new Box<Dog>[1]);
    }
}
