// Methods that override one with a wider return type: each override is also that of all methods above it.
using System;
using System.Linq;
using System.Reflection;

class Animal { public override string ToString() => GetType().Name; }
class Dog : Animal { }
class Puppy : Dog { }

class Shelter
{
    public virtual Animal Get() => new Animal();
    public virtual object Name => "shelter";
    public virtual Animal[] All() => [new Animal()];
}
class DogShelter : Shelter
{
    public override Dog Get() => new Dog();
    public override string Name => "dogs";
    public override Dog[] All() => [new Dog()];
}
class PuppyShelter : DogShelter
{
    public override Puppy Get() => new Puppy();
    public override Puppy[] All() => [new Puppy()];
}
class QuietShelter : PuppyShelter { }
class LastShelter : QuietShelter
{
    public sealed override Puppy Get() => null;
    public override string Name => "last";
}
class HidingShelter : PuppyShelter
{
    public new virtual Animal Get() => new Animal();
}
class BelowHiding : HidingShelter
{
    public override Dog Get() => new Puppy();
}

abstract class Node
{
    public abstract Node Copy();
    public abstract object Value { get; }
}
abstract class Leaf : Node
{
    public abstract override Leaf Copy();
    public abstract override IComparable Value { get; }
}
abstract class Middle : Leaf { }
class Text(string text) : Middle
{
    public override Text Copy() => new(text + "'");
    public override string Value => text;
}
class LongText(string text) : Text(text)
{
    public override LongText Copy() => new(Value + "''");
}

interface ISource { object Take(); }
class Source<T> : ISource where T : class
{
    public virtual object Take() => "source";
}
class Typed<T> : Source<T> where T : class
{
    public override T Take() => null;
}
class Strings : Typed<string>
{
    public override string Take() => "strings";
}
class Again : Strings, ISource { }

abstract record Shape(string Name);
abstract record Round(string Name) : Shape(Name);
record Circle(double Radius) : Round("circle");
record Ring(double Radius, double Hole) : Circle(Radius);

static class Test
{
    static void Show(string what, params object[] values) =>
        Console.WriteLine(what + ": " + string.Join(", ", values.Select(v => v ?? "null")));

    static void Shelters()
    {
        foreach (Shelter s in new Shelter[] { new(), new DogShelter(), new PuppyShelter(), new QuietShelter(), new LastShelter(), new HidingShelter(), new BelowHiding() })
        {
            Func<Animal> get = s.Get;
            Show(s.GetType().Name, s.Get(), get(), s.Name, s.All()[0]);
            if (s is DogShelter d) Show("  as DogShelter", d.Get(), d.Name, d.All()[0]);
            if (s is PuppyShelter p) Show("  as PuppyShelter", p.Get(), p.Name, p.All()[0]);
            if (s is HidingShelter h) Show("  as HidingShelter", h.Get());
        }
    }

    static void Nodes()
    {
        foreach (Node n in new Node[] { new Text("a"), new LongText("b") })
        {
            Leaf leaf = (Leaf)n;
            Text text = (Text)n;
            Show(n.GetType().Name, n.Copy().Value, leaf.Copy().Value, text.Copy().Value, n.Value, leaf.Value, text.Value);
        }
    }

    static void Generics()
    {
        foreach (var s in new Source<string>[] { new(), new Typed<string>(), new Strings(), new Again() })
            Show(s.GetType().Name, s.Take(), ((ISource)s).Take(), (s as Typed<string>)?.Take());
        ISource objects = new Typed<object>();
        Show("objects", objects.Take());
    }

    static void Records()
    {
        Shape shape = new Ring(2, 1);
        Show("copy", shape with { Name = "renamed" }, shape == shape with { }, shape.Equals(new Circle(2)));
        Round round = new Circle(3);
        Show("round", round with { Name = "wheel" }, (Circle)round with { Radius = 4 });
    }

    static void Reflected()
    {
        const BindingFlags all = BindingFlags.Instance | BindingFlags.Public;
        foreach (var type in new[] { typeof(DogShelter), typeof(PuppyShelter), typeof(LastShelter), typeof(LongText) })
        foreach (var m in type.GetMethods(all).Where(m => m.Name is "Get" or "Copy").OrderBy(m => m.DeclaringType.Name))
            Show("  " + type.Name, m.DeclaringType.Name, m.ReturnType.Name, m.GetBaseDefinition().DeclaringType.Name, m.IsFinal);
        Show("called", typeof(Shelter).GetMethod("Get").Invoke(new PuppyShelter(), null), typeof(Node).GetMethod("Copy").Invoke(new LongText("c"), null));
    }

    static void Main()
    {
        Shelters();
        Nodes();
        Generics();
        Records();
        Reflected();
        Plain.Test.Run(name => Console.WriteLine(name));
    }
}
