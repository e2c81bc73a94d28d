// Interfaces that are one under the type arguments, and one re-implemented by a derived class.
using System;

interface IRun<T> { string Run(); }

class Base<T> : IRun<T> { string IRun<T>.Run() { return "Base"; } }

class Derived<U> : Base<int>, IRun<U> { string IRun<U>.Run() { return "Derived"; } }

class Last : Derived<int>, IRun<string>, IRun<int> { string IRun<string>.Run() { return "Last"; } }

class Program
{
    static void Main()
    {
        Console.WriteLine(((IRun<int>)new Derived<int>()).Run());
        Console.WriteLine(((IRun<int>)new Derived<string>()).Run());
        Console.WriteLine(((IRun<string>)new Derived<string>()).Run());
        Console.WriteLine(((IRun<int>)new Last()).Run());
        Console.WriteLine(((IRun<string>)new Last()).Run());
    }
}
