//! A host in C calls methods of a library by Mono's embedding API. Skipped without `cc` or `mcs`.

mod common;

const LIBRARY: &str = r#"
using System;
using System.Runtime.CompilerServices;

namespace Some
{
    public class Failure : Exception { }

    public struct Point { public int X; public double Y; public string Text; }

    public class Thing
    {
        public class Failure : Exception { }

        string name;
        public Thing () { name = "thing "; }
        public static int Add (int number, string text) { return number + text.Length; }
        public string Name (string more) { return name + more; }
        public static void Throw () { throw new Failure (); }
        public static void Collect ()
        {
            for (int i = 0; i < 100000; i++)
                new byte[100].ToString ();
            GC.Collect ();
        }
    }

    public class Calls
    {
        [MethodImpl (MethodImplOptions.InternalCall)] static extern string AddText (string text, int number, sbyte small);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern double OfPoint (Point point, float factor);
        [MethodImpl (MethodImplOptions.InternalCall)] extern bool Many (int a, int b, int c, int d, int e, int f, int g, ref string text);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern void Fail (string message);
        [MethodImpl (MethodImplOptions.InternalCall)] static extern void Nobody ();

        public static string Test ()
        {
            string text = "before";
            string thrown = "";
            foreach (string message in new [] { "a", "bb", "ccc" }) {
                try {
                    Fail (message);
                    thrown += "nothing";
                } catch (Failure) {
                    thrown += message;
                } catch (ArgumentException e) {
                    thrown += e.Message;
                }
            }
            bool many = new Calls ().Many (1, 2, 3, 4, 5, 6, 7, ref text);
            double point = OfPoint (new Point { X = 1, Y = 2.5, Text = "abc" }, 2);
            return AddText ("x", 5, -3) + " " + point + " " + many + " " + text + " " + thrown;
        }

        public static void Throw (string message) { throw new ArgumentException (message); }
        public static string Missing () { Nobody (); return "?"; }
        public string Join (int number, Point point, string text) { return number + point.X + text.ToString (); }
        public static Point Moved (Point point, sbyte by) { point.X += by; point.Y = by; return point; }

        public static int Files () { return System.IO.File.Exists ("/no/such/file") ? 0 : System.IO.Directory.Exists ("/") ? 1 : 2; }

        public static int Sum (int number, string text)
        {
            if (number % 50 == 0)
                GC.Collect ();
            return number + (text + new string ('x', number % 10)).Length - number % 10;
        }
    }
}
"#;

/// Compares what a host of the library above prints.
fn prints(host: &str, expected: &str) {
    common::prints(host, LIBRARY, expected);
}

#[test]
fn a_host_in_c_calls_methods_and_gets_what_they_throw() {
    prints("host", "missing: 1 1\nstatic: 42 1\ninstance: thing hé 8\nthrown: 1 1\n");
}

#[test]
fn managed_code_and_a_host_in_c_call_each_other() {
    prints(
        "calls",
        "internal calls: x+5-3 13 True many abbccc\n\
         missing: throws NotImplementedException\n\
         thunk: 7t 1\n\
         thunk: throws NullReferenceException\n\
         struct: 2 -2 4\n\
         threads: 0 bad\n",
    );
}

#[test]
fn a_library_that_is_loaded_locally_serves_the_class_libraries() {
    prints("local", "files: 1\n");
}

#[test]
fn threads_that_attach_and_detach_leave_no_memory() {
    prints("attach", "memory is kept\n");
}

#[test]
fn options_of_mono_do_what_they_say() {
    prints("options", "compiler: exit code 0, 0 lines\ntrace: exit code 0, 1 lines\nnonsense: exit code 1, 0 lines\n");
}
