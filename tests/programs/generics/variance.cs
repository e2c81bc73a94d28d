// Variant interfaces and delegates: assignment, casts and calls through them.
using System;
using System.Collections.Generic;

class Animal
{
    public virtual string Name { get { return "animal"; } }
}

class Dog : Animal
{
    public override string Name { get { return "dog"; } }
}

interface ISource<out T>
{
    T Next();
}

interface ISink<in T>
{
    string Put(T value);
}

class Kennel : ISource<Dog>, ISink<Animal>
{
    public Dog Next() { return new Dog(); }
    public string Put(Animal value) { return "put " + value.Name; }
}

class Both : ISource<string>, ISource<Dog>
{
    string ISource<string>.Next() { return "text"; }
    Dog ISource<Dog>.Next() { return new Dog(); }
}

struct Numbers : ISource<object>
{
    public int N;
    public object Next() { return ++N; }
}

delegate TResult Maker<out TResult>();
delegate void Taker<in T>(T value);

static class Program
{
    static Dog MakeDog() { return new Dog(); }
    static void TakeAnimal(Animal a) { Console.WriteLine("took " + a.Name); }

    static void Main()
    {
        Kennel kennel = new Kennel();
        ISource<Animal> animals = kennel;
        ISource<object> objects = animals;
        ISink<Dog> dogs = kennel;
        Console.WriteLine("{0} {1} {2}", animals.Next().Name, objects.Next().GetType().Name, dogs.Put(new Dog()));
        object o = kennel;
        Console.WriteLine("{0} {1} {2} {3}", o is ISource<Animal>, o is ISource<string>, o is ISink<Dog>, o is ISink<object>);
        object both = new Both();
        Console.WriteLine("{0} {1}", ((ISource<string>)both).Next(), ((ISource<Animal>)both).Next().Name);
        try
        {
            Console.WriteLine(((ISource<Kennel>)o).Next());
        }
        catch (InvalidCastException)
        {
            Console.WriteLine("InvalidCastException");
        }
        ISource<object> boxed = new Numbers();
        boxed.Next();
        Console.WriteLine(boxed.Next());
        Console.WriteLine((object)new Numbers() is ISource<ValueType>);

        Maker<Dog> maker = MakeDog;
        Maker<Animal> animalMaker = maker;
        Maker<object> objectMaker = animalMaker;
        Console.WriteLine("{0} {1}", animalMaker().Name, objectMaker() is Dog);
        Taker<Animal> taker = TakeAnimal;
        Taker<Dog> dogTaker = taker;
        dogTaker(new Dog());
        Console.WriteLine("{0} {1}", (object)taker is Taker<Dog>, (object)taker is Taker<object>);
        Func<object, Dog> narrow = x => new Dog();
        Func<string, Animal> wide = narrow;
        Console.WriteLine(wide("").Name);

        IEnumerable<Animal> sequence = new List<Dog> { new Dog(), new Dog() };
        foreach (Animal a in sequence)
            Console.Write(a.Name + " ");
        Console.WriteLine();
        IComparer<Dog> comparer = Comparer<Animal>.Create((a, b) => string.CompareOrdinal(a.Name, b.Name));
        Console.WriteLine(comparer.Compare(new Dog(), new Dog()));
        Console.WriteLine("{0} {1}", new List<int>() is IEnumerable<object>, typeof(IEnumerable<object>).IsAssignableFrom(typeof(List<string>)));
        IEnumerable<IEnumerable<object>> deep = new List<List<string>> { new List<string> { "deep" } };
        foreach (IEnumerable<object> inner in deep)
            foreach (object item in inner)
                Console.WriteLine(item);
    }
}
