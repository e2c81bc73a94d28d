// TypeMapping (.NET 10): attributes of assemblies that map names and types to types, by group.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.InteropServices;

[assembly: TypeMap<Animals>("dog", typeof(Dog))]
[assembly: TypeMap<Animals>("cat", typeof(Cat), typeof(Kennel))]
[assembly: TypeMap<Animals>("list", typeof(List<Dog>))]
[assembly: TypeMap<Animals>("größe", typeof(Outer.Inner<>))]
[assembly: TypeMap<Plants>("dog", typeof(Rose))]
[assembly: TypeMap<Twice>("same", typeof(Rose))]
[assembly: TypeMap<Twice>("same", typeof(Dog))]
[assembly: TypeMapAssociation<Animals>(typeof(Dog), typeof(Kennel))]
[assembly: TypeMapAssociation<Animals>(typeof(List<int>), typeof(Cat))]
[assembly: TypeMapAssociation<Animals>(typeof(List<>), typeof(Rose))]
[assembly: TypeMapAssociation<Animals>(typeof(string), typeof(Outer))]
[assembly: TypeMapAssociation<Animals>(typeof(Outer.Inner<Dog>), typeof(Dog))]
[assembly: TypeMapAssociation<Animals>(typeof(Dog[]), typeof(Dog[,]))]
[assembly: TypeMapAssociation<Animals>(typeof(int[,]), typeof(Rose))]
[assembly: TypeMapAssociation<Animals>(typeof(int*), typeof(Cat))]
[assembly: TypeMapAssociation<Animals>(typeof(Dictionary<string, Outer.Inner<int>>.Enumerator), typeof(Größe))]
[assembly: TypeMapAssociation<Animals>(typeof(Größe), typeof(Dog))]
[assembly: TypeMapAssemblyTarget<Animals>("type-maps")]
[assembly: TypeMapAssemblyTarget<Animals>("System.Runtime")]
[assembly: TypeMapAssemblyTarget<Missing>("No.Such.Assembly")]
[assembly: TypeMap<Generic<int>>("one", typeof(int))]
[assembly: TypeMap<Generic<string>>("one", typeof(string))]

class Animals;
class Plants;
class Nothing;
class Twice;
class Missing;
class Generic<T>;
class Dog;
class Cat;
class Kennel;
class Rose;
class Größe;
class Outer { public class Inner<T>; }

static class Test
{
    static void Try(string title, Func<object> get)
    {
        try { Console.WriteLine(title + ": " + get()); }
        catch (Exception e) { Console.WriteLine(title + ": " + e.GetType().Name); }
    }

    static void Main()
    {
        IReadOnlyDictionary<string, Type> animals = TypeMapping.GetOrCreateExternalTypeMapping<Animals>();
        foreach (string key in new[] { "dog", "cat", "list", "größe", "DOG", "rose", "" })
            Console.WriteLine(key + ": " + (animals.TryGetValue(key, out Type type) ? type : "none"));
        Try("index", () => animals["dog"]);
        Try("no such index", () => animals["none"]);
        Try("null", () => animals[null]);
        Try("contains", () => animals.ContainsKey("dog"));
        Try("count", () => animals.Count);
        Try("keys", () => animals.Keys.Count());
        Try("enumerate", () => animals.First());
        Console.WriteLine(TypeMapping.GetOrCreateExternalTypeMapping<Plants>()["dog"] + " " + TypeMapping.GetOrCreateExternalTypeMapping<Nothing>().TryGetValue("dog", out _));
        Console.WriteLine(TypeMapping.GetOrCreateExternalTypeMapping<Generic<int>>()["one"] + " " + TypeMapping.GetOrCreateExternalTypeMapping<Generic<string>>()["one"]);
        Try("the same", () => TypeMapping.GetOrCreateExternalTypeMapping<Twice>());
        Try("missing", () => TypeMapping.GetOrCreateExternalTypeMapping<Missing>());
        Try("missing proxy", () => TypeMapping.GetOrCreateProxyTypeMapping<Missing>());

        IReadOnlyDictionary<Type, Type> proxies = TypeMapping.GetOrCreateProxyTypeMapping<Animals>();
        foreach (Type key in new[] { typeof(Dog), typeof(List<int>), typeof(List<string>), typeof(List<>), typeof(string), typeof(Cat), typeof(Outer.Inner<Dog>), typeof(Outer.Inner<Cat>), typeof(Dog[]), typeof(Dog[,]), typeof(int[,]), typeof(int*), typeof(Dictionary<string, Outer.Inner<int>>.Enumerator), typeof(Größe), typeof(List<>).GetGenericArguments()[0] })
            Console.WriteLine(key + ": " + (proxies.TryGetValue(key, out Type type) ? type : "none"));
        Try("no such proxy", () => proxies[typeof(Rose)]);
        Console.WriteLine(TypeMapping.GetOrCreateProxyTypeMapping<Plants>().TryGetValue(typeof(Dog), out _));
    }
}
