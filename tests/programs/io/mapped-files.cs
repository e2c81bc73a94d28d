// Files mapped by path and by descriptor, and one name that many threads ask for at once, while others collect: a file was opened with the lock of all names held, which a stop of the world must not meet.
// mcs: -r:System.Core
// net: skip the method of seven parameters is of .NET Framework
using System;
using System.IO;
using System.IO.MemoryMappedFiles;
using System.Linq;
using System.Threading;

class Program {
	const int Threads = 8;

	// What each of the threads got, in their order.
	static string [] AtOnce (Func<int, string> work) {
		var results = new string [Threads];
		using (var start = new Barrier (Threads)) {
			var threads = Enumerable.Range (0, Threads).Select (i => new Thread (() => {
				start.SignalAndWait ();
				if (i % 2 == 1) GC.Collect ();
				results [i] = work (i);
			})).ToArray ();
			foreach (var thread in threads) thread.Start ();
			foreach (var thread in threads) thread.Join ();
		}
		return results;
	}

	static string Counts (string [] results) {
		return string.Join (", ", results.GroupBy (r => r).OrderBy (g => g.Key).Select (g => g.Count () + " " + g.Key));
	}

	static byte First (MemoryMappedFile file) {
		using (var view = file.CreateViewAccessor ()) return view.ReadByte (0);
	}

	static string Opened (MemoryMappedFile [] kept, int i, Func<MemoryMappedFile> open) {
		try { kept [i] = open (); return "opened"; } catch (IOException) { return "refused"; }
	}

	static void Close (MemoryMappedFile [] kept) {
		foreach (var file in kept.Where (f => f != null)) file.Dispose ();
	}

	static void Main () {
		string path = Path.GetTempFileName ();
		File.WriteAllBytes (path, new byte [] { 7, 8, 9 });

		using (var file = MemoryMappedFile.CreateFromFile (path)) Console.WriteLine ("by path: " + First (file));
		using (var file = MemoryMappedFile.CreateFromFile (path, FileMode.OpenOrCreate, "named", 5000)) Console.WriteLine ("longer: " + First (file));
		Console.WriteLine (new FileInfo (path).Length);
		using (var stream = new FileStream (path, FileMode.Open))
		using (var file = MemoryMappedFile.CreateFromFile (stream, "named", 0, MemoryMappedFileAccess.ReadWrite, null, HandleInheritability.None, false))
			Console.WriteLine ("by descriptor: " + First (file));
		for (int i = 0; i < 2; i++)
			try { MemoryMappedFile.CreateFromFile (path + ".missing", FileMode.Open, "named"); } catch (FileNotFoundException) { Console.WriteLine ("not found"); }

		var kept = new MemoryMappedFile [Threads];
		Console.WriteLine ("one name by path: " + Counts (AtOnce (i => Opened (kept, i, () => MemoryMappedFile.CreateFromFile (path, FileMode.Create, "one", 6000)))));
		// The file is truncated only for the one that has the name.
		Console.WriteLine (new FileInfo (path).Length + " " + First (kept.First (f => f != null)));
		Close (kept);

		using (var stream = new FileStream (path, FileMode.Open)) {
			kept = new MemoryMappedFile [Threads];
			Console.WriteLine ("one name by descriptor: " + Counts (AtOnce (i => Opened (kept, i, () =>
				MemoryMappedFile.CreateFromFile (stream, "one", 0, MemoryMappedFileAccess.ReadWrite, null, HandleInheritability.None, true)))));
			Close (kept);
		}

		kept = new MemoryMappedFile [Threads];
		Console.WriteLine ("names of their own: " + Counts (AtOnce (i => Opened (kept, i, () => MemoryMappedFile.CreateFromFile (path, FileMode.Open, "own " + i)))));
		Close (kept);

		kept = new MemoryMappedFile [Threads];
		Console.WriteLine ("memory of one name: " + Counts (AtOnce (i => Opened (kept, i, () => {
			var file = MemoryMappedFile.CreateOrOpen ("memory", 4096);
			using (var view = file.CreateViewAccessor ()) view.Write (i, (byte) 1);
			return file;
		}))));
		using (var view = kept [0].CreateViewAccessor ()) Console.WriteLine (Enumerable.Range (0, Threads).Sum (i => view.ReadByte (i)));
		Close (kept);
		File.Delete (path);
	}
}
