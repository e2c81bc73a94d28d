// `./x bench --suite green`: what threads cost, one benchmark a run. Arguments: the benchmark's name and its numbers. Prints a
// figure a line, "NAME VALUE", in the unit that xtask/src/bench/green/benchmarks.rs says; "at N" is the count that was measured.
// The same programs in Go (main.go) and Java (Green.java) do the same steps in the same order.
using System;
using System.Diagnostics;
using System.Globalization;
using System.IO;

static class Program
{
    static int Main(string[] arguments)
    {
        Func<int, int> number = place => int.Parse(arguments[place], CultureInfo.InvariantCulture);
        switch (arguments[0])
        {
            case "switch": Waits.Switch(); break;
            case "ring": Ring.Measure(arguments[1] == "monitor", number(2), number(3)); break;
            case "thread-ring": Ring.Classic(number(1), number(2)); break;
            case "create": Crowd.Create(); break;
            case "park": Crowd.Park(number(1), number(2), number(3)); break;
            case "pause": Crowd.Pauses(number(1)); break;
            case "ping-pong": Waits.PingPong(); break;
            case "lock": Waits.ContendedLock(number(1)); break;
            case "queue": Waits.BoundedQueue(number(1)); break;
            case "sleepers": Work.Sleepers(number(1)); break;
            case "ticker": Work.Ticker(number(1)); break;
            case "scale": Work.Scale(number(1)); break;
            case "blocking": Work.Blocking(number(1), number(2)); break;
            default: Console.Error.WriteLine("no such benchmark: " + arguments[0]); return 2;
        }
        return 0;
    }
}

static class Figures
{
    const double TargetSeconds = 0.5;
    const int Rounds = 3;

    public static void Print(string name, double value)
    {
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture, "{0} {1:F3}", name, value));
    }

    // Nanoseconds an operation, the best of some rounds. `run` does so many operations; the first counts grow until a round
    // takes long enough, which also has everything compiled.
    public static double Nanoseconds(long first, Action<long> run)
    {
        long count = first;
        for (;;)
        {
            double seconds = Seconds(run, count);
            if (seconds >= TargetSeconds / 3)
                break;
            count *= (long)Math.Max(2, Math.Min(10, TargetSeconds / (seconds + 1e-6)));
        }
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
            best = Math.Min(best, Seconds(run, count));
        return best * 1e9 / count;
    }

    static double Seconds(Action<long> run, long count)
    {
        Stopwatch watch = Stopwatch.StartNew();
        run(count);
        return watch.Elapsed.TotalSeconds;
    }

    // A line of /proc/self/status in bytes: VmRSS (resident memory) or VmPTE (page tables, which are not part of it).
    public static double StatusBytes(string name)
    {
        foreach (string line in File.ReadAllLines("/proc/self/status"))
            if (line.StartsWith(name + ":", StringComparison.Ordinal))
                return 1024.0 * long.Parse(line.Substring(name.Length + 1).Replace("kB", "").Trim(), CultureInfo.InvariantCulture);
        throw new InvalidOperationException(name);
    }
}
