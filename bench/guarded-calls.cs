// Calls whose callee is known only from what ran before: of interfaces, virtual methods and delegates, in loops,
// through LINQ and foreach; and type tests. With the argument `times`, the best time of each in milliseconds.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;

interface IStep { int Next(int n); }
class Adder : IStep { int by = 3; public int Next(int n) { return n + by; } }
class Mixer : IStep { int by = 5; public int Next(int n) { return n ^ by; } }
abstract class Shape { public abstract int Area(int n); }
class Square : Shape { public override int Area(int n) { return n * n; } }
class Strip : Shape { public override int Area(int n) { return 2 * n; } }

static class GuardedCalls
{
    const int Calls = 5000000;

    static int OfInterface(IStep step)
    {
        int sum = 0;
        for (int i = 0; i < Calls; i++)
            sum += step.Next(i);
        return sum;
    }

    static int OfTwoClasses(IStep[] steps)
    {
        int sum = 0;
        for (int i = 0; i < Calls; i++)
            sum += steps[i & 1].Next(i);
        return sum;
    }

    static int OfVirtual(Shape shape)
    {
        int sum = 0;
        for (int i = 0; i < Calls; i++)
            sum += shape.Area(i);
        return sum;
    }

    static int OfDelegate(Func<int, int> twist)
    {
        int sum = 0;
        for (int i = 0; i < Calls; i++)
            sum += twist(i);
        return sum;
    }

    static int Casts(object[] things)
    {
        int sum = 0;
        for (int i = 0; i < Calls; i++)
        {
            object thing = things[i & 3];
            if (thing is IStep)
                sum += 1;
            if (thing is IComparable)
                sum += 2;
            if (thing is IEnumerable<string>)
                sum += 4;
        }
        return sum;
    }

    static int Linq(int[] numbers)
    {
        return numbers.Where(n => n % 3 != 0).Select(n => n * 2).Where(n => n % 5 != 0).Sum(n => n & 0xff);
    }

    static int Foreach(IEnumerable<int> numbers)
    {
        int sum = 0;
        foreach (int n in numbers)
            sum += n;
        return sum;
    }

    static int Sort(int[] numbers)
    {
        var copy = (int[])numbers.Clone();
        Array.Sort(copy, (a, b) => b.CompareTo(a));
        return copy[1000];
    }

    static int Measure(bool times, string name, Func<int> part)
    {
        int result = 0;
        double best = double.MaxValue;
        for (int round = 0; round < 12; round++)
        {
            var watch = Stopwatch.StartNew();
            result += part();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds);
        }
        if (times)
            Console.WriteLine("{0,-14}{1,8:F2} ms", name, best);
        return result;
    }

    static void Main(string[] args)
    {
        bool times = args.Length > 0 && args[0] == "times";
        var numbers = new int[1000000];
        for (int i = 0; i < numbers.Length; i++)
            numbers[i] = (int)(i * 2654435761L % 1000003);
        var some = new int[200000];
        Array.Copy(numbers, some, some.Length);
        IStep adder = new Adder(), mixer = new Mixer();
        IStep[] both = { adder, mixer };
        object[] things = { adder, new List<string>(), "text", mixer };
        int sum = Measure(times, "interface", () => OfInterface(adder));
        sum += Measure(times, "two classes", () => OfTwoClasses(both));
        sum += Measure(times, "virtual", () => OfVirtual(new Square()));
        sum += Measure(times, "delegate", () => OfDelegate(n => n * 3));
        sum += Measure(times, "casts", () => Casts(things));
        sum += Measure(times, "linq", () => Linq(numbers));
        sum += Measure(times, "foreach", () => Foreach(numbers));
        sum += Measure(times, "sort", () => Sort(some));
        Console.WriteLine(sum);
    }
}
