// Two interfaces of a class convert to the one called: the first declared, of the most derived class, is taken.
using System;

interface ISource<out T> { string Name { get; } }

class Fruit { }

class Both : ISource<string>, ISource<Fruit>
{
    string ISource<string>.Name { get { return "string"; } }
    string ISource<Fruit>.Name { get { return "Fruit"; } }
}

class Derived : Both, ISource<Exception>
{
    string ISource<Exception>.Name { get { return "Exception"; } }
}

class Program
{
    static void Main()
    {
        Console.WriteLine(((ISource<object>)(object)new Both()).Name);
        Console.WriteLine(((ISource<Fruit>)new Both()).Name);
        Console.WriteLine(((ISource<Exception>)new Derived()).Name);
        Console.WriteLine(((ISource<string>)new Derived()).Name);
    }
}
