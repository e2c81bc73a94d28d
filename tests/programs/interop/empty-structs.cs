// A struct without fields is no argument and no result of a C function: what lies behind it has the registers that it
// would have alone. In both directions, and where arguments go to the stack.
// net: skip .NET passes a byte for it
using System;
using System.Runtime.InteropServices;

class Program
{
	struct Empty {}

	[UnmanagedFunctionPointer (CallingConvention.Cdecl)]
	delegate int Compare (Empty first, IntPtr a, Empty second, IntPtr b);

	[UnmanagedFunctionPointer (CallingConvention.Cdecl)]
	delegate Empty Made (int value, Empty behind, double number, IntPtr last);

	[UnmanagedFunctionPointer (CallingConvention.Cdecl)]
	delegate int Plain (int value, double number, IntPtr last);

	[DllImport ("libc")] static extern int abs (Empty before, int value);
	[DllImport ("libm.so.6")] static extern double ldexp (Empty first, double value, Empty second, int exponent);
	[DllImport ("libm.so.6")] static extern double fmax (double a, Empty between, double b, Empty behind);
	[DllImport ("libc")] static extern Empty srand (int seed);
	[DllImport ("libc")] static extern void qsort (int [] values, Empty behind, IntPtr count, IntPtr size, Compare compare);

	[DllImport ("libc")]
	static extern int snprintf (byte [] text, IntPtr size, string format, int a, Empty e, int b, int c, Empty f, int d, int g, int h, Empty i, int j);

	static Empty Make (int value, Empty behind, double number, IntPtr last)
	{
		Console.WriteLine ("{0} {1} {2}", value, number, last);
		return behind;
	}

	static void Main ()
	{
		var empty = new Empty ();
		for (int round = 0; round < 3; round++) {
			Console.WriteLine (abs (empty, -7 - round));
			Console.WriteLine (ldexp (empty, 1.5, empty, 4 + round));
			Console.WriteLine (fmax (1 + round, empty, 2.5, empty));
			srand (round);
			var text = new byte [50];
			int length = snprintf (text, (IntPtr) text.Length, "%d %d %d %d %d %d %d", 1, empty, 2, 3, empty, 4, 5, 6, empty, 7 + round);
			Console.WriteLine (System.Text.Encoding.ASCII.GetString (text, 0, length));
		}
		var values = new [] { 3, 1, 2 };
		Compare compare = (first, a, second, b) => Marshal.ReadInt32 (a) - Marshal.ReadInt32 (b);
		qsort (values, empty, (IntPtr) values.Length, (IntPtr) 4, compare);
		Console.WriteLine (string.Join (" ", values));
		Made made = Make;
		IntPtr function = Marshal.GetFunctionPointerForDelegate (made);
		var plain = Marshal.GetDelegateForFunctionPointer<Plain> (function);
		plain (5, 0.5, (IntPtr) 9);
		var native = Marshal.GetDelegateForFunctionPointer<Made> (function);
		native (6, empty, 1.5, (IntPtr) 8);
		GC.KeepAlive (made);
	}
}
