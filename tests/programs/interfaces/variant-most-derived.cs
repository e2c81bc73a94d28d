// A call through a variant interface takes the most derived class that implements a compatible instantiation, even where a
// base class implements the very one that is called.
using System;

interface IGet<out T> { string Get(); }
interface ITake<in T> { string Take(T value); string Twice<U>(T value); }

class Animal { }
class Cat : Animal { }

class Base : IGet<Animal>
{
    string IGet<Animal>.Get() { return "Base: Animal"; }
}

class Derived : Base, IGet<Cat>
{
    string IGet<Cat>.Get() { return "Derived: Cat"; }
}

// Says the interface again, with nothing of its own to implement it.
class Again : Derived, IGet<Animal> { }

class Exact : Derived, IGet<Animal>
{
    string IGet<Animal>.Get() { return "Exact: Animal"; }
}

class TakeCat : ITake<Cat>
{
    public virtual string Take(Cat value) { return "TakeCat.Take"; }
    public virtual string Twice<U>(Cat value) { return "TakeCat.Twice " + typeof(U).Name; }
}

class TakeAnimal : TakeCat, ITake<Animal>
{
    string ITake<Animal>.Take(Animal value) { return "TakeAnimal.Take"; }
    string ITake<Animal>.Twice<U>(Animal value) { return "TakeAnimal.Twice " + typeof(U).Name; }
}

class Overrides : TakeCat
{
    public override string Take(Cat value) { return "Overrides.Take"; }
}

class Generic<T> : IGet<T>
{
    string IGet<T>.Get() { return "Generic: " + typeof(T).Name; }
}

class OfBoth<T> : Generic<T>, IGet<Cat>
{
    string IGet<Cat>.Get() { return "OfBoth: Cat"; }
}

abstract class Partial : IGet<Animal>
{
    public abstract string Get();
}

class Whole : Partial, IGet<Cat>
{
    public override string Get() { return "Whole"; }
}

class Program
{
    static void Main()
    {
        foreach (object o in new object[] { new Base(), new Derived(), new Again(), new Exact(), new OfBoth<Animal>(), new Whole() })
        {
            Console.Write(o.GetType().Name + ": " + ((IGet<Animal>)o).Get() + ", " + ((IGet<object>)o).Get());
            if (o is IGet<Cat>)
                Console.Write(", " + ((IGet<Cat>)o).Get());
            Console.WriteLine();
        }
        Console.WriteLine(((IGet<Animal>)new OfBoth<string>()).Get() + ", " + ((IGet<string>)new OfBoth<string>()).Get());
        foreach (var take in new ITake<Cat>[] { new TakeCat(), new TakeAnimal(), new Overrides() })
            Console.WriteLine(take.Take(null) + ", " + take.Twice<int>(null));
        Func<string> of = ((IGet<Animal>)new Derived()).Get;
        Console.WriteLine(of());
    }
}
