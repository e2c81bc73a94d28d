using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Some
{
    public enum Colour { Red, Green = 7 }
    public struct Point { public int X; public double Y; public string Text; }
    public delegate string Join (string text, int number, Point point);

    public class Counter
    {
        public static int Made;
        public readonly string Name;
        public Colour Colour = Colour.Green;
        int count;
        public Counter (string name) { Name = name; Made++; }
        public virtual int Add (int number) { return count += number; }
        public int Count { get { return count; } set { count = value; } }
        public string Fixed { get { return "fixed"; } }
        public static long Total { get; set; }
        public override string ToString () { return Name + ": " + count; }
        public static void Throw (string message) { throw new FormatException (message); }
        public static Point Moved (Point point, int by) { point.X += by; point.Text += "!"; return point; }
        public static double Mean (float a, byte b, long c) { return (a + b + c) / 3.0; }
        public static string All (bool a, char b, sbyte c, byte d, short e, ushort f, int g, uint h, long i, ulong j, float k, double l, object m, string n)
        {
            return string.Join (" ", a, b, c, d, e, f, g, h, i, j, k, l, m, n);
        }
        public static object Echo (object value) { return value; }
        public static string Kind (object value) { return value == null ? "null" : value.GetType ().ToString (); }
        public static bool Files () { return System.IO.Directory.Exists ("/"); }

        public class Inner { public static string Where = "inside"; }
    }

    public class Derived : Counter
    {
        public Derived () : base ("derived") { }
        public override int Add (int number) { return base.Add (number * 10); }
    }

    public class Host
    {
        [MethodImpl (MethodImplOptions.InternalCall)] public static extern string Ask (string text, int number, Point point);
        [MethodImpl (MethodImplOptions.InternalCall)] public extern double Self (float factor);
        [MethodImpl (MethodImplOptions.InternalCall)] public static extern void Fail (string how);
        [MethodImpl (MethodImplOptions.InternalCall)] public static extern int Down (int depth);
        [MethodImpl (MethodImplOptions.InternalCall)] public static extern void Nobody ();
        [MethodImpl (MethodImplOptions.InternalCall)] public static extern int Swap (ref string a, ref int b);
        public override string ToString () { return "the host"; }

        public static string Swapped () { string a = "one"; int b = 2; int result = Swap (ref a, ref b); return a + " " + b + " " + result; }
        public static int Refer (ref string a, out int b, int c) { a += "!"; b = a.Length; return c; }

        public static string Asked ()
        {
            return Ask ("text", 42, new Point { X = 1, Y = 2.5, Text = "p" }) + " " + new Host ().Self (1.5f);
        }

        // What Fail throws, and whether an exception that went through the host is the same object.
        public static string Failures ()
        {
            string text = "";
            foreach (string how in new [] { "own", "object", "through", "argument", "wrong result", "none" }) {
                try {
                    Fail (how);
                    text += "[nothing]";
                } catch (Exception e) {
                    text += "[" + e.GetType ().Name + ": " + e.Message + (e == thrown ? " (the same)" : "") + "]";
                }
            }
            return text;
        }

        static Exception thrown;
        public static void ThrowKept () { thrown = new TimeoutException ("kept"); throw thrown; }

        // Managed code, host, managed code, host: at the bottom an exception, which goes up through all of them.
        public static int Deeper (int depth)
        {
            if (depth == 0)
                throw new ArithmeticException ("bottom");
            try {
                return Down (depth - 1) + 1;
            } finally {
                finallies++;
            }
        }
        static int finallies;
        public static int Finallies { get { return finallies; } }

        public static int OtherResults;

        class CallsAtTheEnd
        {
            readonly Func<int, int> function;
            public CallsAtTheEnd (Func<int, int> function) { this.function = function; }
            ~CallsAtTheEnd () { if (function (4) != 12) OtherResults++; }
        }

        public static void CallAtTheEnd (Func<int, int> function) { new CallsAtTheEnd (function); }

        public static string UseJoin (Join join)
        {
            string text = "";
            for (int i = 0; i < 3; i++)
                text = join (text + i, i, new Point { X = i, Text = "p" + i });
            return text;
        }

        // Threads of managed code that call a function of the host.
        public static int Threads (Func<int, int> function, int threads, int rounds)
        {
            int sum = 0;
            var all = new List<Thread> ();
            for (int t = 0; t < threads; t++) {
                var thread = new Thread (() => {
                    for (int i = 0; i < rounds; i++)
                        Interlocked.Add (ref sum, function (i));
                });
                thread.Start ();
                all.Add (thread);
            }
            foreach (Thread thread in all)
                thread.Join ();
            return sum;
        }

        public static void OnExit (Action action) { AppDomain.CurrentDomain.ProcessExit += (s, e) => action (); }
        public static void SetExitCode (int code) { Environment.ExitCode = code; }
    }
}
