// Large arrays in memory that others have filled, or filled in part, and left: all are zero when they are made.
using System;

class Reused
{
	// Bytes between those that are looked at and written to: under stress each turn of a loop may collect.
	const int STEP = 61;

	static int made;

	static void Make (int length, int step)
	{
		var array = new byte[length];
		for (int i = 0; i < array.Length; i += STEP)
			if (array[i] != 0)
				throw new Exception ("array " + made + " holds " + array[i] + " at " + i + " of " + length);
		for (int i = 0; i < array.Length; i += step)
			array[i] = 0xee;
		made++;
	}

	static void Main ()
	{
		int[] lengths = { 1000000, 1048576, 3000000, 9000000, 20000001 };
		// Every page, every other one, one in a few, one in many.
		int[] steps = { STEP, 134 * STEP, 328 * STEP, 80000 * STEP };
		for (int round = 0; round < 3; round++) {
			foreach (int step in steps) {
				foreach (int length in lengths)
					Make (length, step);
				GC.Collect ();
			}
		}
		Console.WriteLine (made);
	}
}
