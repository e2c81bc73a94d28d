using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Some
{
    public struct Large { public long A, B, C; public double D; }

    public class Program
    {
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern string Many (int a, long b, string c, byte d, short e, object f, int g, string h, long i);
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern double Floats (double a, float b, double c, double d, double e, double f, double g, double h, double i, float j, int k);
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern long Structs (Large a, int b, Large c, string d, double e);
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern int Raises (int a, int b, int c, int d, int e, int f, int g, int h, string message);
        [MethodImpl (MethodImplOptions.InternalCall)]
        static extern int CallsBack (int a, int b, int c, int d, int e, int f, int g, int depth, string message);

        delegate int Wide (int a, int b, int c, int d, int e, int f, int g, int h, double i);
        [DllImport ("libc")]
        static extern int snprintf (byte [] to, IntPtr size, string format, int a, int b, int c, int d, int e, int f, int g);

        public static int Back (int depth, string message)
        {
            GC.Collect ();
            if (depth == 0)
                throw new InvalidOperationException (message);
            try {
                return CallsBack (1, 2, 3, 4, 5, 6, 7, depth - 1, message + depth);
            } finally {
                Console.WriteLine ("leaves " + depth);
            }
        }

        static void Main () { }

        public static void Run ()
        {
            Console.WriteLine (Many (1, 2, "three", 4, -5, "six", 7, "eight", 9));
            Console.WriteLine (Floats (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
            var large = new Large { A = 1, B = 2, C = 3, D = 4 };
            Console.WriteLine (Structs (large, 5, large, "text", 6));
            int sum = 0;
            for (int i = 0; i < 100; i++) {
                try {
                    sum += Raises (1, 2, 3, 4, 5, 6, 7, i, "number " + i);
                } catch (ArgumentException e) {
                    if (i % 25 == 0)
                        Console.WriteLine (e.Message);
                    sum += 1000;
                }
            }
            Console.WriteLine (sum);
            try {
                Back (3, "depth ");
            } catch (InvalidOperationException e) {
                Console.WriteLine (e.Message);
            }
            var to = new byte [64];
            int length = snprintf (to, (IntPtr) 64, "%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7);
            Console.WriteLine (System.Text.Encoding.ASCII.GetString (to, 0, length));
            int made = 0;
            Wide wide = (a, b, c, d, e, f, g, h, i) => { made++; return a + b + c + d + e + f + g + h + (int) i; };
            var pointer = Marshal.GetFunctionPointerForDelegate (wide);
            var back = (Wide) Marshal.GetDelegateForFunctionPointer (pointer, typeof (Wide));
            Console.WriteLine (back (1, 2, 3, 4, 5, 6, 7, 8, 9.5) + " " + made);
            GC.KeepAlive (wide);
        }
    }
}
