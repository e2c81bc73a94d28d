// Pointers are assignable to themselves only; native integers in arrays are 64-bit ones; unboxing to a Nullable is exact.
// mcs: -unsafe
using System;

enum Color { Red = 1 }

unsafe class Program
{
    static void Main()
    {
        Type[] types = { typeof(int*), typeof(uint*), typeof(void*), typeof(int*[]), typeof(uint*[]), typeof(object), typeof(object[]), typeof(IntPtr[]), typeof(long[]) };
        foreach (var target in types)
        {
            foreach (var source in types) Console.Write(target.IsAssignableFrom(source) ? "x" : ".");
            Console.WriteLine(" " + target);
        }
        object longs = new long[1], natives = new UIntPtr[1];
        Console.WriteLine("{0} {1} {2} {3}", longs is IntPtr[], natives is long[], natives is int[], longs is UIntPtr[]);
        object number = 1, color = Color.Red;
        Console.WriteLine((Color)number);
        try { Console.WriteLine((Color?)number); } catch (InvalidCastException) { Console.WriteLine("not exact"); }
        try { Console.WriteLine((int?)color); } catch (InvalidCastException) { Console.WriteLine("not exact"); }
        Console.WriteLine((Color?)color);
    }
}
