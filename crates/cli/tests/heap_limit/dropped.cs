// Large arrays, each of which is dropped before the next one is made: 100 times 42 MB.
using System;
using System.IO;

class Dropped
{
	static void Main ()
	{
		for (int i = 0; i < 100; i++) {
			var array = new int[10500000];
			array[i] = 1;
		}
		foreach (string line in File.ReadAllLines ("/proc/self/status"))
			if (line.StartsWith ("VmHWM:"))
				Console.WriteLine (line.Substring (6).Replace ("kB", "").Trim ());
	}
}
