// Calls on objects of two classes in turn, in loops that get hot: of interfaces, virtual methods and delegates. Then a
// third class, another method, and null come at the same calls.
using System;
using System.Collections.Generic;

interface IStep
{
    int Next(int n);
}

class Adder : IStep
{
    int by;
    public Adder(int by) { this.by = by; }
    public int Next(int n) { return n + by; }
}

class Mixer : IStep
{
    int by;
    public Mixer(int by) { this.by = by; }
    public int Next(int n) { return n ^ by; }
}

// A value type: its boxed object is the receiver.
struct Doubler : IStep
{
    public int Next(int n) { return n * 2; }
}

class Failing : IStep
{
    public int Next(int n)
    {
        if (n % 2 == 1)
            throw new InvalidOperationException("odd " + n);
        return n;
    }
}

abstract class Shape
{
    public abstract long Area(int n);
    public virtual string Name { get { return "shape"; } }
}

class Square : Shape
{
    public override long Area(int n) { return (long)n * n; }
}

class Strip : Shape
{
    public override long Area(int n) { return 2L * n; }
    public override string Name { get { return "strip"; } }
}

class ThinStrip : Strip
{
    public override long Area(int n) { return n; }
}

static class Program
{
    static int Steps(IStep[] steps, int count)
    {
        int n = 1;
        for (int i = 0; i < count; i++)
            n = steps[i % steps.Length].Next(n);
        return n;
    }

    // Other values are on the stack while the call is made, and its result is used at once.
    static long Areas(Shape[] shapes, int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum = sum * 3 + (shapes[i % shapes.Length].Area(i) - shapes[(i + 1) % shapes.Length].Name.Length) % 7;
        return sum;
    }

    static int Calls(Func<int, int>[] functions, int count)
    {
        int n = 1;
        for (int i = 0; i < count; i++)
            n = functions[i % functions.Length](n) & 0xffff;
        return n;
    }

    static string calls = "";

    static void Append(string text) { if (calls.Length < 20) calls += text; }

    static void Actions(Action<string>[] actions, int count)
    {
        for (int i = 0; i < count; i++)
            actions[i % actions.Length]("x");
    }

    static void Try(string name, Func<object> run)
    {
        object result;
        try
        {
            result = run();
        }
        catch (Exception e)
        {
            result = e.GetType().Name + (e is InvalidOperationException ? " " + e.Message : "");
        }
        Console.WriteLine(name + ": " + result);
    }

    static int Twice(int n) { return n * 2; }

    static void Main()
    {
        IStep[] two = { new Adder(3), new Mixer(5) };
        Shape[] shapes = { new Square(), new Strip() };
        int by = 7;
        Func<int, int>[] functions = { n => n + by, Twice };
        Action<string>[] actions = { s => Append("a" + s), s => Append("b" + s) };
        for (int round = 0; round < 30; round++)
        {
            Steps(two, 4000);
            Areas(shapes, 4000);
            Calls(functions, 4000);
            Actions(actions, 4000);
        }
        Try("two classes", () => Steps(two, 1001));
        Try("the other first", () => Steps(new[] { two[1], two[0] }, 1001));
        Try("one of them", () => Steps(new[] { two[1] }, 1001));
        Try("a third one", () => Steps(new IStep[] { two[0], two[1], new Doubler() }, 1001));
        Try("only others", () => Steps(new IStep[] { new Doubler() }, 10));
        Try("one that throws", () => Steps(new IStep[] { new Mixer(4), new Failing() }, 1001));
        Try("null", () => Steps(new IStep[] { two[0], two[1], null }, 1001));
        Try("shapes", () => Areas(shapes, 1001));
        Try("a class below", () => Areas(new Shape[] { shapes[0], new ThinStrip(), shapes[1] }, 1001));
        Try("no shape", () => Areas(new Shape[] { shapes[1], shapes[0], null }, 1001));
        Try("functions", () => Calls(functions, 1001));
        Try("another function", () => Calls(new[] { functions[1], n => n - 3, functions[0] }, 1001));
        Try("a list of functions", () => Calls(new[] { functions[0], functions[0] + functions[1] }, 1001));
        Try("no function", () => Calls(new[] { functions[0], functions[1], null }, 1001));
        calls = "";
        Actions(actions, 5);
        Actions(new[] { actions[1] + actions[0], actions[0] }, 3);
        Console.WriteLine(calls);
    }
}
