// Large arrays of which little is written to: 200 times 1.5 GB.
using System;
using System.IO;

class Untouched
{
	static void Main ()
	{
		for (int i = 0; i < 200; i++) {
			var array = new byte[1500000000];
			if (array[i] != 0 || array[array.Length - 1 - i] != 0 || array[i * 7000000] != 0)
				throw new Exception ("not zero in round " + i);
			array[i] = 1;
			array[array.Length - 1 - i] = 1;
			array[i * 7000000] = 1;
		}
		foreach (string line in File.ReadAllLines ("/proc/self/status"))
			if (line.StartsWith ("VmHWM:"))
				Console.WriteLine (line.Substring (6).Replace ("kB", "").Trim ());
	}
}
