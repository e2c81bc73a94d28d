// Array constructors through reflection: a level that no array has may have any length.
using System;
using System.Reflection;

class Program {
    // .NET wraps it, Mono does not.
    static bool IsOverflow(Exception e) => (e is TargetInvocationException ? e.InnerException : e) is OverflowException;

    static void Make(params object[] lengths) {
        ConstructorInfo two = Array.Find(typeof(string[][]).GetConstructors(), c => c.GetParameters().Length == 2);
        try {
            var made = (string[][])two.Invoke(lengths);
            Console.WriteLine(made.Length + (made.Length == 0 ? "" : " of " + made[0].Length));
        } catch (Exception e) when (IsOverflow(e)) {
            Console.WriteLine("overflow");
        }
    }

    static void Main() {
        Make(0, -33);
        Make(0, 5);
        Make(1, -1);
        Make(-1, 0);
        Make(2, 3);
        foreach (ConstructorInfo ctor in typeof(int[,]).GetConstructors())
            try { Console.WriteLine(((int[,])ctor.Invoke(ctor.GetParameters().Length == 2 ? new object[] { 0, -1 } : new object[] { -5, 0, -6, 2 })).GetLowerBound(1)); }
            catch (Exception e) when (IsOverflow(e)) { Console.WriteLine("overflow"); }
        // Of three levels the lengths of two may be given, too.
        var deep = (int[][][])Activator.CreateInstance(typeof(int[][][]), 2, 3);
        Console.WriteLine("{0} {1} {2}", deep.Length, deep[1].Length, deep[1][2] == null);
        Console.WriteLine(((int[][][])Activator.CreateInstance(typeof(int[][][]), 4)).Length);
    }
}
