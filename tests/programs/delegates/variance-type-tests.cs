// A delegate may be of another instantiation than its static type says: type tests, casts, GetType and array stores look at the object.
using System;

class Animal { }
class Tiger : Animal { }
delegate void Taker<in T>(T t);
delegate T Maker<out T>();
delegate T Plain<T>(T t);

class Program {
    static Tiger MakeTiger() { return new Tiger(); }

    static void Main() {
        Taker<Animal> animals = a => Console.WriteLine("took " + a.GetType().Name);
        Taker<Tiger> tigers = animals;
        Console.WriteLine(tigers.GetType());
        Console.WriteLine(tigers is Taker<Animal>);
        Console.WriteLine((tigers as Taker<Animal>) != null);
        Console.WriteLine(tigers.GetType() == typeof(Taker<Tiger>));
        Console.WriteLine(((Taker<Animal>)(Delegate)tigers).Method == animals.Method);

        Maker<Tiger> maker = MakeTiger;
        Maker<Animal> wide = maker;
        Maker<object> wider = wide;
        Console.WriteLine(wider.GetType());
        Console.WriteLine(wider is Maker<Tiger>);
        Console.WriteLine((wide as Maker<Tiger>)().GetType().Name);

        var array = new Maker<Tiger>[1];
        Maker<Animal>[] asAnimals = array;
        asAnimals[0] = wide;
        Console.WriteLine(array[0] == maker);
        Maker<Animal> other = () => new Animal();
        try { asAnimals[0] = other; Console.WriteLine("stored"); }
        catch (ArrayTypeMismatchException e) { Console.WriteLine(e.GetType().Name); }

        Plain<string> plain = s => s;
        Console.WriteLine(plain.GetType());
        Console.WriteLine((object)plain is Plain<object>);
        Func<object> text = new Func<string>(() => "text");
        Console.WriteLine(text.GetType() == typeof(Func<string>) && text is Func<string>);
    }
}
