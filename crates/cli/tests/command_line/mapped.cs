using System;
using System.Runtime.InteropServices;

class Mapped {
	[DllImport ("no-such-library")]
	static extern int abs (int value);

	static void Main ()
	{
		try {
			Console.WriteLine (abs (-3));
		} catch (Exception e) {
			Console.WriteLine (e.GetType ().Name);
		}
	}
}
