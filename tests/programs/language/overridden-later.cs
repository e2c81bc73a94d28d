// Calls of virtual methods that no class overrides, until one does: in code that is hot, in loops that run meanwhile,
// and at several depths of a hierarchy.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Runtime.CompilerServices;
using System.Threading;

class Shape
{
    public int Marks;
    public virtual int Corners () { return 4; }
    public virtual int Sides () { return Corners (); }
    public virtual string Name () { return "shape"; }
    public override string ToString () { return Name () + Corners (); }
}

class Square : Shape { public override string Name () { return "square"; } }
class Rhombus : Shape { public override string Name () { return "rhombus"; } }
class Kite : Shape { public override string Name () { return "kite"; } }
class SmallKite : Kite { }

// Not used before `Late` is called.
class Triangle : Shape
{
    public Triangle () { Marks = 1; }
    public override int Corners () { return 3; }
}

class LateKite : SmallKite
{
    public override string Name () { return "late " + base.Name (); }
}

abstract class Source<T>
{
    public abstract T Next ();
    public virtual T Peek () { return default (T); }
}

class Numbers : Source<int> { int at; public override int Next () { return ++at; } }
class MoreNumbers : Numbers { public override int Peek () { return -1; } }
class Words : Source<string> { public override string Next () { return "w"; } }

static class Program
{
    const int Rounds = 20000;

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int Corners (Shape [] shapes, int rounds)
    {
        int sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += shapes [i % shapes.Length].Corners ();
        return sum;
    }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static int SidesOf (Shape shape) { return shape.Sides (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static string NameOf (Kite kite) { return kite.Name (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static T PeekAt<T> (Source<T> source) { return source.Peek (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static Shape Late () { return new Triangle (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static Kite LateName () { return new LateKite (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static Source<int> LateSource () { return new MoreNumbers (); }

    static Shape [] shared;
    static volatile bool stop;

    static int Watch ()
    {
        int wrong = 0;
        while (!stop)
            for (int i = 0; i < shared.Length; i++) {
                Shape shape = Volatile.Read (ref shared [i]);
                if (shape.Corners () != 4 - shape.Marks)
                    wrong++;
            }
        return wrong;
    }

    static void Main ()
    {
        Shape [] shapes = { new Square (), new Rhombus (), new Kite (), new SmallKite (), new Shape () };
        Kite [] kites = { new Kite (), new SmallKite () };
        Source<int> numbers = new Numbers ();
        Source<string> words = new Words ();
        int sum = 0;
        for (int i = 0; i < Rounds; i++) {
            sum += SidesOf (shapes [i % shapes.Length]) + NameOf (kites [i % 2]).Length;
            sum += PeekAt (numbers);
            if (PeekAt (words) != null)
                sum = -1;
        }
        for (int i = 0; i < 20; i++)
            sum += Corners (shapes, 5000);
        Console.WriteLine (sum);

        shared = (Shape []) shapes.Clone ();
        int [] wrong = new int [2];
        var watchers = new Thread [2];
        for (int i = 0; i < watchers.Length; i++) {
            int number = i;
            watchers [i] = new Thread (() => wrong [number] = Watch ());
            watchers [i].Start ();
        }
        Thread.Sleep (100);
        Volatile.Write (ref shared [2], Late ());
        Thread.Sleep (50);
        stop = true;
        foreach (var watcher in watchers)
            watcher.Join ();
        Console.WriteLine (wrong [0] + wrong [1]);

        shapes [1] = Late ();
        Console.WriteLine (Corners (shapes, 5000));
        Console.WriteLine (SidesOf (shapes [1]) + SidesOf (shapes [0]));
        Console.WriteLine (NameOf (kites [1]) + ", " + NameOf (LateName ()) + ", " + NameOf (kites [0]));
        Console.WriteLine (PeekAt (LateSource ()) + " " + PeekAt (numbers));
        Console.WriteLine (shapes [1] + " " + shapes [0]);
        try {
            Console.WriteLine (SidesOf (null));
        } catch (NullReferenceException) {
            Console.WriteLine ("null");
        }
    }
}
