// Lists that fill the heap are dropped where the exception is caught; the same method then needs the memory again.
using System;
using System.Collections.Generic;

class Caught
{
	static void Main ()
	{
		List<byte[]> arrays = new List<byte[]> ();
		try {
			while (true)
				arrays.Add (new byte[1000000]);
		} catch (OutOfMemoryException) {
			arrays = null;
		}
		Console.WriteLine (new byte[60000000].Length);
		var objects = new List<object> ();
		try {
			while (true)
				objects.Add (new object[100]);
		} catch (OutOfMemoryException) {
			objects = null;
		}
		var others = new List<object> ();
		for (int i = 0; i < 50000; i++)
			others.Add (new object[100]);
		Console.WriteLine (others.Count);
	}
}
