// Object.GetType on objects whose exact type the compiler does not know: classes, boxes, arrays, delegates, strings,
// objects whose type object nobody asked for before, null, and in try blocks.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

class Base { }
class Derived : Base { }
class Generic<T> { }
struct Value { public int Number; }
enum Colour { Red }

static class Program
{
    [MethodImpl (MethodImplOptions.NoInlining)]
    static Type Of (object value) { return value.GetType (); }

    [MethodImpl (MethodImplOptions.NoInlining)]
    static bool Same (object left, object right) { return left.GetType () == right.GetType (); }

    static string Name (object value)
    {
        try {
            return value.GetType ().ToString ();
        } catch (NullReferenceException) {
            return "null";
        }
    }

    static void Main ()
    {
        object[] values = { new Base (), new Derived (), "text", 1, 2L, 'c', 1.5, new Value (), Colour.Red, (int?) 3, new int[1], new string[0], new int[1, 1], new int[0][], new Generic<int> (),
            new Generic<string> (), new List<Value> (), (Action) Main, new object (), typeof (int), new Base[0], (uint) 1, new uint[0] };
        for (int round = 0; round < 2; round++) {
            foreach (object value in values)
                Console.WriteLine ("{0} {1} {2}", Of (value), ReferenceEquals (Of (value), Of (value)), Name (value));
            GC.Collect ();
        }
        Console.WriteLine ("{0} {1} {2}", Same (new Base (), new Derived ()), Same (new Derived (), new Derived ()), Same (new Generic<int> (), new Generic<long> ()));
        Console.WriteLine ("{0} {1} {2}", Of (new Base ()) == typeof (Base), Of (1) == typeof (int), Of (new Derived[0]).GetElementType () == typeof (Derived));
        Console.WriteLine (Name (null));
        try {
            Of (null);
            Console.WriteLine ("no exception");
        } catch (NullReferenceException) {
            Console.WriteLine ("NullReferenceException");
        }
    }
}
