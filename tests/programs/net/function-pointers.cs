// Managed function pointers: static methods, generics, structs, covariance, in collections; delegates beside them.
using System;
using System.Linq;
using System.Reflection;

static unsafe class Test
{
    static int Add(int a, int b) => a + b;
    static int Times(int a, int b) => a * b;
    static T Same<T>(T value) => value;
    static void Increment(ref int n) => n++;
    static (int, string) Pair(int n, string s) => (n, s);
    static readonly delegate*<int, int, int>[] Table = [&Add, &Times];

    static int Fold(ReadOnlySpan<int> all, int start, delegate*<int, int, int> step)
    {
        foreach (int one in all) start = step(start, one);
        return start;
    }

    static void Main()
    {
        Console.WriteLine(Fold([1, 2, 3, 4], 0, &Add) + " " + Fold([1, 2, 3, 4], 1, Table[1]));
        delegate*<string, object> wider = &Same<string>;
        Console.WriteLine(wider("wide"));
        delegate*<Guid, Guid> big = &Same<Guid>;
        Console.WriteLine(big(Guid.Empty));
        delegate*<ref int, void> byRef = &Increment;
        int n = 1;
        byRef(ref n);
        Console.WriteLine(n);
        delegate*<int, string, (int, string)> pair = &Pair;
        Console.WriteLine(pair(5, "five"));
        Console.WriteLine((nint)Table[0] != 0 && Table[0] != Table[1]);
        Type type = typeof(delegate*<int, string>);
        Console.WriteLine(type.IsFunctionPointer + " " + type.GetFunctionPointerReturnType() + " " + type.GetFunctionPointerParameterTypes()[0] + " " + typeof(delegate* unmanaged<void>).IsUnmanagedFunctionPointer);
        var add = (delegate*<int, int, int>)typeof(Test).GetMethod("Add", BindingFlags.Static | BindingFlags.NonPublic).MethodHandle.GetFunctionPointer();
        Console.WriteLine(add(20, 22));
        Func<int, int, int> both = Add;
        both += Times;
        Console.WriteLine(both(3, 4) + " " + both.GetInvocationList().Length + " " + both.HasSingleTarget);
    }
}
