// Objects that are no exceptions, thrown and caught on both sides of an assembly that wraps them (as C# says) and one that does not.
using System;
using System.Runtime.CompilerServices;

class Program {
    static string Describe(object o) {
        var wrapped = o as RuntimeWrappedException;
        return wrapped == null ? o.GetType().Name + " " + o : "wrapped " + Describe(wrapped.WrappedException);
    }

    static void Main() {
        foreach (object thrown in new object[] { "a text that is long enough to hold fields", 7, 2.5m, new object() }) {
            Console.WriteLine(thrown);
            Console.WriteLine(" inside:   " + Describe(Thrower.CatchObject(thrown)));
            Console.WriteLine(" same:     " + ReferenceEquals(thrown, Thrower.CatchObject(thrown)));
            Console.WriteLine(" rethrown: " + Describe(Thrower.CatchRethrown(thrown)));
            try { Thrower.Throw(thrown); }
            catch (Exception e) { Console.WriteLine(" outside:  " + Describe(e) + ", trace " + e.StackTrace.Contains("Thrower.Throw")); }
            try { Console.WriteLine(" filter:   " + Describe(Thrower.CatchFiltered(thrown))); }
            catch (RuntimeWrappedException e) { Console.WriteLine(" refused:  " + Describe(e)); }
            try { Console.WriteLine(" string:   " + Describe(Thrower.CatchString(thrown))); }
            catch (RuntimeWrappedException e) { Console.WriteLine(" refused:  " + Describe(e)); }
            Console.WriteLine(" still:    " + thrown);
        }
    }
}
