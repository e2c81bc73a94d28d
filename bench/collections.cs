// Dictionary, List, HashSet, sorted collections and LINQ over numbers, strings and structs.
using System;
using System.Collections.Generic;
using System.Linq;

static class Collections {
    struct Point : IEquatable<Point> {
        public int X, Y;
        public bool Equals (Point other) => X == other.X && Y == other.Y;
        public override int GetHashCode () => X * 31 + Y;
    }

    class Person {
        public string Name, City;
        public int Age;
    }

    static void Main ()
    {
        Dictionaries ();
        Lists ();
        Queries ();
        Others ();
    }

    static void Dictionaries ()
    {
        long sum = 0;
        for (int round = 0; round < 4; round++) {
            var numbers = new Dictionary<int, int> ();
            for (int i = 0; i < 400000; i++)
                numbers[i * 7919 % 300007] = i;
            int value;
            for (int i = 0; i < 800000; i++)
                if (numbers.TryGetValue (i, out value))
                    sum += value;
            foreach (var pair in numbers)
                sum ^= pair.Key;
        }
        var words = new Dictionary<string, int> ();
        var keys = Enumerable.Range (0, 20000).Select (i => "key number " + i).ToArray ();
        for (int i = 0; i < 1200000; i++) {
            string key = keys[i * 31 % keys.Length];
            int seen;
            words.TryGetValue (key, out seen);
            words[key] = seen + 1;
        }
        var points = new Dictionary<Point, int> ();
        for (int i = 0; i < 600000; i++)
            points[new Point { X = i % 1000, Y = i % 77 }] = i;
        Console.WriteLine ("dictionaries {0} {1} {2}", sum, words.Count, points.Count);
    }

    static void Lists ()
    {
        var random = new Random (5);
        long sum = 0;
        for (int round = 0; round < 4; round++) {
            var list = new List<int> ();
            for (int i = 0; i < 400000; i++)
                list.Add (random.Next ());
            list.Sort ();
            for (int i = 0; i < 200000; i++)
                sum += list.BinarySearch (i * 1000);
            list.RemoveAll (x => x % 3 == 0);
            foreach (int x in list)
                sum += x & 15;
        }
        var names = Enumerable.Range (0, 60000).Select (i => "n" + random.Next ()).ToList ();
        names.Sort (StringComparer.Ordinal);
        names.Sort ((a, b) => b.Length - a.Length != 0 ? b.Length - a.Length : String.CompareOrdinal (a, b));
        Console.WriteLine ("lists {0} {1}", sum, names[100]);
    }

    static void Queries ()
    {
        var people = Enumerable.Range (0, 150000).Select (i => new Person { Name = "name" + i % 5000, City = "city" + i % 97, Age = i * 13 % 90 }).ToList ();
        long sum = 0;
        for (int round = 0; round < 4; round++) {
            sum += people.Where (p => p.Age > 30).Select (p => p.Age * 2).Sum ();
            sum += people.GroupBy (p => p.City).Select (g => g.Max (p => p.Age)).Sum ();
            sum += people.OrderBy (p => p.Age).ThenBy (p => p.Name, StringComparer.Ordinal).Skip (1000).First ().Age;
            sum += people.Select (p => p.Name).Distinct ().Count ();
            sum += (from p in people join c in people.Take (97) on p.City equals c.City where p.Age == c.Age select p.Age).Sum ();
            sum += people.ToLookup (p => p.Age)[7].Count () + people.Any (p => p.Age == 91).GetHashCode ();
        }
        Console.WriteLine ("queries {0}", sum);
    }

    static void Others ()
    {
        var set = new HashSet<string> ();
        for (int i = 0; i < 300000; i++)
            set.Add ("s" + i % 50000);
        var sorted = new SortedDictionary<int, int> ();
        for (int i = 0; i < 150000; i++)
            sorted[i * 7919 % 100003] = i;
        var linked = new LinkedList<int> ();
        for (int i = 0; i < 300000; i++)
            linked.AddLast (i);
        Console.WriteLine ("others {0} {1} {2}", set.Count, sorted.Keys.Take (10).Sum (), linked.Sum (x => (long) x));
    }
}
