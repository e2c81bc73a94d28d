// Array covariance: reads through a base type, store checks, interfaces of arrays, int/uint compatibility.
using System;
using System.Collections;
using System.Collections.Generic;

class Animal { }
class Dog : Animal { }
class Puppy : Dog { }
class Cat : Animal { }
enum Level { Low, High }

static class Program
{
    static void Store(object[] array, object value)
    {
        try
        {
            array[0] = value;
            Console.WriteLine("stored {0} in {1}", value == null ? "null" : value.GetType().Name, array.GetType().Name);
        }
        catch (ArrayTypeMismatchException)
        {
            Console.WriteLine("refused {0} in {1}", value.GetType().Name, array.GetType().Name);
        }
    }

    static void Main()
    {
        object[] animals = new Animal[1];
        Store(animals, new Animal());
        Store(animals, new Puppy());
        Store(animals, null);
        Store(animals, "text");
        object[] dogs = new Dog[1];
        Store(dogs, new Animal());
        Store(dogs, new Cat());
        Store(dogs, new Puppy());
        Store(new object[1], 5);
        Store(new IComparable[1], "comparable");
        Store(new IComparable[1], new Dog());
        Store(new object[][] { null }, new string[0]);
        Store(new object[][] { null }, new int[0]);
        Store(new string[1][], new string[0]);
        Store(new IEnumerable[1], new int[3]);
        Store(new IEnumerable<Animal>[1], new Dog[3]);
        Store(new IEnumerable<Animal>[1], new List<Dog>());
        Store(new IEnumerable<Animal>[1], new List<string>());
        Store(new Action<Dog>[1], new Action<Animal>(a => { }));

        Animal[] view = new Dog[] { new Dog(), new Puppy() };
        Console.WriteLine("{0} {1}", view[1].GetType().Name, view is Dog[]);
        Console.WriteLine("{0} {1} {2}", (object)view is Puppy[], (object)view is object[], (object)view is IList<Animal>);
        try
        {
            view[0] = new Cat();
        }
        catch (ArrayTypeMismatchException)
        {
            Console.WriteLine("no cats among dogs");
        }
        object ints = new[] { 1, -1 };
        uint[] unsigned = (uint[])ints;
        Console.WriteLine("{0} {1}", unsigned[1], ints is uint[]);
        Console.WriteLine("{0} {1}", ints is long[], ints is object[]);
        object levels = new[] { Level.High };
        Console.WriteLine("{0} {1}", levels is int[], ((int[])levels)[0]);
        try
        {
            ref Animal slot = ref view[0];
            Console.WriteLine("not reached {0}", slot);
        }
        catch (ArrayTypeMismatchException)
        {
            Console.WriteLine("no reference to a covariant element");
        }
        IList<object> generic = new string[] { "a", "b" };
        Console.WriteLine("{0} {1} {2}", generic.Count, generic[1], generic.IndexOf("b"));
        IEnumerable<object> sequence = new Dog[2];
        int n = 0;
        foreach (object o in sequence)
            n++;
        Console.WriteLine(n);
    }
}
