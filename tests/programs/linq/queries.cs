// LINQ to objects: restriction, projection, ordering, grouping, joins, sets, aggregation, laziness, errors.
using System;
using System.Collections.Generic;
using System.Linq;

class Person
{
    public string Name;
    public int Age;
    public string City;
}

static class Program
{
    static void Show<T>(string name, IEnumerable<T> items)
    {
        Console.WriteLine("{0}: {1}", name, string.Join(" ", items));
    }

    static void Main()
    {
        Person[] people =
        {
            new Person { Name = "Ada", Age = 36, City = "London" },
            new Person { Name = "Blaise", Age = 39, City = "Paris" },
            new Person { Name = "Carl", Age = 77, City = "Göttingen" },
            new Person { Name = "Dora", Age = 36, City = "Paris" },
            new Person { Name = "Emmy", Age = 53, City = "Göttingen" },
        };
        int[] numbers = { 5, 3, 8, 1, 9, 2, 8 };

        Show("where", numbers.Where(n => n % 2 == 0));
        Show("where index", numbers.Where((n, i) => i % 2 == 0));
        Show("select", numbers.Select((n, i) => n * i));
        Show("orderby", from p in people orderby p.Age, p.Name descending select p.Name + p.Age);
        Show("thenby", people.OrderByDescending(p => p.City, StringComparer.Ordinal).ThenBy(p => p.Age).Select(p => p.Name));
        Show("group", from p in people group p by p.City into g orderby g.Key.Length, g.Key select g.Key + "=" + string.Join("+", g.Select(p => p.Name)));
        Show("join", from p in people join c in new[] { new { City = "Paris", Land = "FR" }, new { City = "London", Land = "GB" } } on p.City equals c.City select p.Name + "/" + c.Land);
        Show("group join", from c in new[] { "Paris", "Rome" } join p in people on c equals p.City into g select c + g.Count());
        Show("select many", people.Take(2).SelectMany(p => p.Name, (p, c) => p.Age + "" + c));
        Show("let", from n in numbers let square = n * n where square > 30 select square);
        Show("cross", from a in new[] { 1, 2 } from b in new[] { "x", "y" } select a + b);
        Show("distinct", numbers.Distinct());
        Show("union", numbers.Union(new[] { 10, 5 }));
        Show("intersect", numbers.Intersect(new[] { 8, 1, 4 }));
        Show("except", numbers.Except(new[] { 8, 1, 4 }));
        Show("concat", numbers.Take(2).Concat(numbers.Skip(5)));
        Show("zip", numbers.Zip("abc", (n, c) => n + "" + c));
        Show("reverse", numbers.Reverse());
        Show("take while", numbers.TakeWhile(n => n != 1));
        Show("skip while", numbers.SkipWhile(n => n != 1));
        Show("range", Enumerable.Range(3, 4));
        Show("repeat", Enumerable.Repeat("r", 3));
        Show("default", new int[0].DefaultIfEmpty(4));
        Show("cast", new object[] { 1, 2 }.Cast<int>());
        Show("of type", new object[] { 1, "a", 2.5m, "b" }.OfType<string>());
        Show("append", numbers.Take(1).Append(4).Prepend(0));

        Console.WriteLine("{0} {1} {2} {3} {4}", numbers.Sum(), numbers.Min(), numbers.Max(), numbers.Average() > 5.14, numbers.Count(n => n > 4));
        Console.WriteLine("{0} {1} {2}", people.Sum(p => p.Age), people.Max(p => p.Name), people.Average(p => p.Age));
        Console.WriteLine("{0} {1} {2} {3}", numbers.First(), numbers.Last(), numbers.ElementAt(2), numbers.FirstOrDefault(n => n > 100));
        Console.WriteLine("{0} {1} {2}", numbers.Any(n => n == 9), numbers.All(n => n > 0), numbers.Contains(7));
        Console.WriteLine("{0} {1}", numbers.Aggregate((a, b) => a * 2 + b), numbers.Aggregate("", (s, n) => s + n, s => s.Length));
        Console.WriteLine("{0} {1}", numbers.SequenceEqual(numbers.ToList()), people.Single(p => p.Name == "Carl").Age);
        Dictionary<string, int> ages = people.ToDictionary(p => p.Name, p => p.Age);
        ILookup<string, string> cities = people.ToLookup(p => p.City, p => p.Name);
        Console.WriteLine("{0} {1} {2}", ages["Emmy"], cities["Paris"].Count(), cities["Nowhere"].Any());

        int evaluated = 0;
        IEnumerable<int> lazy = numbers.Select(n => { evaluated++; return n; }).Where(n => n > 4);
        Console.Write(evaluated + " ");
        lazy.First();
        Console.Write(evaluated + " ");
        lazy.ToArray();
        Console.WriteLine(evaluated);
        foreach (Action bad in new Action[] { () => new int[0].First(), () => numbers.Single(), () => new int[0].Max(), () => numbers.ElementAt(99), () => new object[] { "x" }.Cast<int>().ToList(), () => people.ToDictionary(p => p.Age) })
        {
            try
            {
                bad();
            }
            catch (Exception e)
            {
                Console.Write(e.GetType().Name + " ");
            }
        }
        Console.WriteLine();
        Console.WriteLine(Enumerable.Range(1, 100000).Where(n => n % 3 == 0).Select(n => (long)n * n).OrderByDescending(n => n).Skip(10).Take(100).Sum());
    }
}
