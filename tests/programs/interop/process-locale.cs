// The process takes up the user's locale for native libraries (gettext, input methods), and formats its own numbers as ever.
// env: LC_ALL=C.UTF-8
using System;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

class Program {
	[DllImport ("libc")] static extern IntPtr setlocale (int category, IntPtr name);
	[DllImport ("libc")] static extern IntPtr nl_langinfo (int item);

	static void Main () {
		for (int category = 0; category <= 6; category++) Console.Write (Marshal.PtrToStringAnsi (setlocale (category, IntPtr.Zero)) + " ");
		Console.WriteLine ();
		Console.WriteLine (Marshal.PtrToStringAnsi (nl_langinfo (14)));
		Console.WriteLine ((1.5e300).ToString ("R", CultureInfo.InvariantCulture) + " " + double.Parse ("2.25", CultureInfo.InvariantCulture) + " " + Encoding.Default.WebName);
	}
}
