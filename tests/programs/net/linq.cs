// LINQ to objects with the operators that only modern .NET has beside the old ones.
using System;
using System.Collections.Generic;
using System.Linq;

var words = "the quick brown fox jumps over the lazy dog again and again".Split(' ');
void Show<T>(string name, IEnumerable<T> all) => Console.WriteLine($"{name}: {string.Join(", ", all)}");

Show("where", words.Where(w => w.Length > 4).Select(w => w.ToUpperInvariant()));
Show("order", words.Distinct().Order(StringComparer.Ordinal));
Show("by length", words.OrderByDescending(w => w.Length).ThenBy(w => w, StringComparer.Ordinal).Take(4));
Show("group", words.GroupBy(w => w.Length).OrderBy(g => g.Key).Select(g => $"{g.Key}={g.Count()}"));
Show("count by", words.CountBy(w => w[0]).OrderBy(p => p.Key).Select(p => $"{p.Key}{p.Value}"));
Show("index", words.Index().Where(p => p.Index % 5 == 0).Select(p => $"{p.Index}:{p.Item}"));
Show("aggregate by", words.AggregateBy(w => w.Length, 0, (n, w) => n + w.Length).OrderBy(p => p.Key));
Show("chunk", Enumerable.Range(1, 7).Chunk(3).Select(c => c.Sum()));
Show("zip", Enumerable.Range(1, 3).Zip("abc", new[] { 0.5, 1.5, 2.5 }));
Show("range", Enumerable.Range(0, 10).Take(3..^2));
Show("min by", new[] { words.MinBy(w => w.Length), words.MaxBy(w => w.Length) });
Show("distinct by", words.DistinctBy(w => w.Length));
Show("except by", words.ExceptBy(new[] { 3, 5 }, w => w.Length));
Show("join", from a in words.Distinct() join b in new[] { 3, 4 } on a.Length equals b select a + b);
Show("many", Enumerable.Range(1, 3).SelectMany(n => Enumerable.Repeat(n, n)));
Show("append", Enumerable.Empty<int>().DefaultIfEmpty(9).Prepend(8).Append(10).Reverse());
Console.WriteLine(Enumerable.Range(1, 100).Sum() + " " + Enumerable.Range(1, 5).Average() + " " + Enumerable.Range(1, 20).Aggregate(1L, (a, b) => a * b));
Console.WriteLine(words.Select(w => w.Length).SequenceEqual(words.Select(w => w.ToCharArray().Length)));
Console.WriteLine(words.ToLookup(w => w.Length)[5].First() + " " + words.TryGetNonEnumeratedCount(out int n) + " " + n);
