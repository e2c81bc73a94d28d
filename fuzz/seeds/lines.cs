using System;

public struct Pair {
    public int A, B;
    public int Sum { get { return A + B; } }
}

public static class Lines {
    static int field = Start(3);

    static int Start(int n) {
        return n * 2;
    }

    static int Choose(int n) {
        int m = n + 1;

        if (m > 3)
            throw new ArgumentException("n");
#line 100 "generated.y"
        m += field;
#line default
        return m;
    }

    static System.Collections.Generic.IEnumerable<int> Iterate() {
        for (int i = 0; i < 3; i++)
            yield return i;
    }

    public static void Main() {
        foreach (int i in Iterate())
            Console.WriteLine(Choose(i));
        Func<int, int> f = x => {
            return new Pair { A = x, B = 1 }.Sum;
        };
        Console.WriteLine(f(4));
    }
}

// `mcs -debug lines.cs` in /src gives lines.exe and lines.exe.mdb. portable.exe with portable.pdb, and embedded.exe, are
// copies that Mono.Cecil 0.11 wrote with the same sequence points (PortablePdbWriterProvider, EmbeddedPortablePdbWriterProvider).
