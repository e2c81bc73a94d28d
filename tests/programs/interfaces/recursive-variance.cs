// Whether a class converts to a contravariant interface of itself leads back to the same question: it does not convert.
using System;

interface IFor<in T> { }
interface IOf<out T> { }

class Circle : IFor<IFor<Circle>> { }
class Deeper : IFor<IFor<IFor<Deeper>>> { }
class Mixed : IOf<IFor<Mixed>> { }
class Left : IFor<IFor<Right>> { }
class Right : IFor<IFor<Left>> { }

class Program
{
    static void Main()
    {
        object circle = new Circle();
        Console.WriteLine(circle is IFor<Circle>);
        Console.WriteLine(circle is IFor<IFor<Circle>>);
        Console.WriteLine(typeof(IFor<Deeper>).IsAssignableFrom(typeof(Deeper)));
        Console.WriteLine((object)new Mixed() is IOf<Mixed>);
        Console.WriteLine((object)new Left() is IFor<Right>);
        Console.WriteLine((object)new Right() is IFor<Left>);
        Console.WriteLine((object)new Circle[0] is IFor<Circle>[]);
    }
}
