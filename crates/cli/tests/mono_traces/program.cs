// Calls of all kinds of arguments and results, an exception and statements that are not reached.
using System;
using System.Numerics;
using System.Runtime.InteropServices;

namespace Traced
{
    struct Pair { public int A, B; }

    class Shape
    {
        readonly int size;
        public Shape(int size) { this.size = size; }
        public long Area(double factor) { return (long)(size * factor); }
        public static string Name(string prefix, object boxed, ref int count) { count++; return prefix + boxed; }
        public static Pair Swap(Pair pair) { return new Pair { A = pair.B, B = pair.A }; }
        public static Vector4 Scale(Vector4 vector, float factor) { return vector * factor; }
        public static void Fail(bool wanted) { if (wanted) throw new ArgumentException("no good"); }
        public static int Never(int number)
        {
            if (number > 0)
                return number * 2;
            return -number;
        }
    }

    delegate int Compare(IntPtr one, IntPtr other);

    static class Native
    {
        [DllImport("libc")]
        public static extern int abs(int number);
    }

    static class Program
    {
        static int Main(string[] arguments)
        {
            Shape shape = new Shape(3);
            int count = 1;
            Console.WriteLine(shape.Area(1.5));
            Console.WriteLine(Shape.Name("n", 7, ref count));
            Console.WriteLine(Shape.Swap(new Pair { A = 1, B = 2 }).A);
            Console.WriteLine(Shape.Scale(new Vector4(1, 2, 3, 4), 2).Y);
            Console.WriteLine(Native.abs(-5));
            try { Shape.Fail(true); }
            catch (ArgumentException e) { Console.WriteLine(e.Message); }
            return Shape.Never(count) - 4;
        }
    }
}
