// Thread-static fields: of many types, generic and nested, each thread with values of its own, also in code that was compiled
// when the thread had none yet.
using System;
using System.Collections.Generic;
using System.Threading;

static class ThreadStatics {
    class Holder<T> {
        [ThreadStatic] public static T Value;
        [ThreadStatic] public static int Count;
        public static int Shared;

        public static int Touch (T value)
        {
            Value = value;
            Shared++;
            return ++Count;
        }
    }

    struct Pair {
        public long A;
        public object B;
        public int C;
    }

    static class WithInitialiser {
        [ThreadStatic] public static string Text;
        [ThreadStatic] public static Pair Pair;
        static WithInitialiser () { Text = "first thread"; }
    }

    static string Round ()
    {
        var text = new List<string> ();
        text.Add (Holder<int>.Touch (5) + "/" + Holder<int>.Value);
        text.Add (Holder<string>.Touch ("s") + "/" + Holder<string>.Value);
        text.Add (Holder<List<int>>.Touch (new List<int> { 1 }) + "/" + Holder<List<int>>.Value.Count);
        text.Add (Holder<Pair>.Touch (new Pair { A = 7, C = 8 }) + "/" + (Holder<Pair>.Value.A + Holder<Pair>.Value.C));
        text.Add (WithInitialiser.Text ?? "null");
        WithInitialiser.Text = "seen";
        WithInitialiser.Pair.A++;
        WithInitialiser.Pair.B = "object " + WithInitialiser.Pair.A;
        text.Add (WithInitialiser.Pair.A + " " + WithInitialiser.Pair.B + " " + WithInitialiser.Pair.C);
        return String.Join (", ", text);
    }

    static void Many<T> (int depth)
    {
        Holder<T>.Touch (default (T));
        if (depth > 0)
            Many<KeyValuePair<T, int>[]> (depth - 1);
    }

    static void On (ThreadStart work)
    {
        var thread = new Thread (work);
        thread.Start ();
        thread.Join ();
    }

    static void Main ()
    {
        for (int i = 0; i < 3; i++)
            Console.WriteLine ("main: " + Round ());
        On (delegate {
            for (int i = 0; i < 2; i++)
                Console.WriteLine ("other: " + Round ());
        });
        Many<int> (25);
        On (delegate {
            Many<int> (25);
            Console.WriteLine ("deep: {0} {1}", Holder<KeyValuePair<int, int>[]>.Count, Holder<KeyValuePair<int, int>[]>.Shared);
            GC.Collect ();
            Holder<string>.Value = "kept " + 1;
            GC.Collect ();
            Console.WriteLine (Holder<string>.Value);
        });
        Console.WriteLine ("main: " + Round ());
    }
}
