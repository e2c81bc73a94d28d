// What `saki cache seed` runs so that the code cache holds the class library's common bodies. It prints nothing of interest
// and must run anywhere: no files but temporary ones, no network.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

enum Colour { Red, Green, Blue }

[Flags]
enum Options { None = 0, A = 1, B = 2 }

class Seed {
	static void Text () {
		var builder = new StringBuilder ();
		for (int i = 0; i < 20; i++)
			builder.Append (i).Append (',').AppendFormat ("{0:x4} {1,8:F2}", i, i / 3.0).AppendLine ();
		var text = builder.ToString ();
		Console.WriteLine (text.Split ('\n', ',').Where (s => s.Trim ().Length > 0).Select (s => s.ToUpperInvariant ()).Count ());
		Console.WriteLine (text.Replace ("a", "b").IndexOf ("0003", StringComparison.Ordinal) + text.Substring (3, 5).PadLeft (9));
		Console.WriteLine ("{0} {1:N2} {2:C} {3:yyyy-MM-dd HH:mm} {4}", 1L, 2.5m, 3, DateTime.Now, Guid.NewGuid ());
		Console.WriteLine (string.Join ("|", "c b a".Split (' ').OrderBy (s => s)) + string.Compare ("a", "B", StringComparison.OrdinalIgnoreCase)
			+ "x".Equals ("X", StringComparison.CurrentCultureIgnoreCase) + "straße".ToUpper ().StartsWith ("STR") + "abc".Contains ("b"));
		int parsed; double number;
		Console.WriteLine (int.TryParse ("12", out parsed) && double.TryParse ("1.5e3", NumberStyles.Float, CultureInfo.InvariantCulture, out number));
		Console.WriteLine (long.Parse ("-123") + decimal.Parse ("1.25", CultureInfo.InvariantCulture).ToString () + 1e100 + 0.1f + true + 'c' + byte.MaxValue);
		Console.WriteLine (Convert.ToBase64String (Encoding.UTF8.GetBytes ("text")) + Convert.ToInt32 ("7f", 16) + BitConverter.ToString (new byte[] { 1, 2 }));
		foreach (Match match in Regex.Matches ("a1 b22 c333", @"(?<l>[a-z])(\d+)"))
			Console.WriteLine (match.Groups ["l"].Value + match.Groups [1].Length + Regex.Replace (match.Value, "[0-9]", m => "#"));
		Console.WriteLine (Colour.Blue.ToString () + (Options.A | Options.B) + Enum.Parse (typeof (Colour), "Green") + Enum.GetNames (typeof (Colour)).Length);
		Console.WriteLine (DateTime.Parse ("2020-01-02T03:04:05", CultureInfo.InvariantCulture).AddDays (1.5) - DateTime.UtcNow + TimeSpan.FromSeconds (90).ToString ());
		Console.Error.Write ("");
	}

	static void Collections () {
		var list = new List<int> (Enumerable.Range (0, 50)); list.Reverse (); list.Sort (); list.RemoveAll (n => n % 2 == 0); list.Insert (0, 3);
		var names = new List<string> { "b", "a" }; names.Sort (); names.Sort ((a, b) => string.CompareOrdinal (a, b));
		var objects = new List<object> { 1, "x", 2.0 };
		var byName = new Dictionary<string, int> { { "a", 1 } }; byName ["b"] = 2; int value; byName.TryGetValue ("a", out value); byName.Remove ("b");
		var byNumber = new Dictionary<int, string> { { 1, "a" } }; var byObject = new Dictionary<string, object> (); byObject ["k"] = list;
		foreach (var pair in byName) Console.WriteLine (pair.Key + pair.Value);
		foreach (var pair in byNumber) Console.WriteLine (pair.Key + pair.Value);
		foreach (var key in byObject.Keys) Console.WriteLine (key);
		var set = new HashSet<string> { "x" }; var numbers = new HashSet<int> { 1 }; set.Add ("y"); numbers.Contains (1);
		var queue = new Queue<int> (); queue.Enqueue (1); queue.Dequeue (); var stack = new Stack<string> (); stack.Push ("a"); stack.Pop ();
		var linked = new LinkedList<int> (); linked.AddLast (1); var sorted = new SortedDictionary<string, int> { { "z", 1 }, { "a", 2 } };
		var sortedList = new SortedList<int, string> { { 2, "b" }, { 1, "a" } };
		var table = new Hashtable { { "a", 1 } }; var array = new ArrayList { 1, "a" }; var bits = new BitArray (10); bits.Set (1, true);
		foreach (DictionaryEntry entry in table) Console.WriteLine (entry.Key);
		foreach (var item in array) Console.WriteLine (item);
		foreach (var pair in sorted) Console.WriteLine (pair.Key + sortedList.Count);
		Console.WriteLine (list.Where (n => n > 3).Select (n => n * 2).Take (5).Skip (1).Sum () + list.Max () + list.Min () + list.Count (n => n > 1)
			+ names.GroupBy (n => n.Length).First ().Key + names.Aggregate ((a, b) => a + b) + objects.OfType<string> ().First ()
			+ list.Any () + list.All (n => n > 0) + list.FirstOrDefault () + list.Distinct ().Count () + list.OrderByDescending (n => n).ToArray ().Length
			+ names.ToDictionary (n => n, n => n.Length).Count + list.Zip (names, (n, s) => s + n).Last () + names.SelectMany (n => n).Count ()
			+ names.Concat (names).Union (set).Except (set).Count () + names.Join (names, n => n, n => n, (a, b) => a).Count ());
		var words = new [] { 3, 1, 2 }; Array.Sort (words); Array.Reverse (words); Array.IndexOf (words, 2); Array.Resize (ref words, 5);
		var copy = (int[]) words.Clone (); Array.Copy (words, copy, 3); Array.ConvertAll (copy, n => n.ToString ()); new int [2, 3].GetLength (1);
		var concurrent = new ConcurrentDictionary<string, int> (); concurrent.GetOrAdd ("a", k => 1); concurrent.AddOrUpdate ("a", 1, (k, v) => v + 1);
		var waiting = new ConcurrentQueue<int> (); waiting.Enqueue (1); waiting.TryDequeue (out value);
		Console.WriteLine (Tuple.Create (1, "a") + new KeyValuePair<int, string> (1, "a").ToString () + EqualityComparer<string>.Default.Equals ("a", "b")
			+ Comparer<int>.Default.Compare (1, 2) + new Random (1).Next (10) + Math.Round (2.5) + Math.Pow (2, 0.5) + Nullable.Compare<int> (1, null));
	}

	static void Files () {
		var path = Path.GetTempFileName ();
		File.WriteAllText (path, "line 1\nline 2\n"); File.AppendAllText (path, "line 3\n");
		using (var reader = new StreamReader (path)) while (reader.ReadLine () != null) { }
		using (var writer = new StreamWriter (path, false, Encoding.UTF8)) writer.WriteLine ("text {0}", 1);
		Console.WriteLine (File.ReadAllLines (path).Length + File.ReadAllBytes (path).Length + new FileInfo (path).Length + Path.GetExtension (path)
			+ Path.Combine ("a", "b") + Directory.Exists ("/tmp") + Path.GetFileNameWithoutExtension (path) + Path.GetFullPath ("a"));
		using (var stream = new MemoryStream ()) using (var binary = new BinaryWriter (stream)) {
			binary.Write (1); binary.Write ("text"); binary.Flush (); stream.Position = 0;
			var back = new BinaryReader (stream); Console.WriteLine (back.ReadInt32 () + back.ReadString ());
		}
		File.Delete (path);
		Console.WriteLine (new StringReader ("a\nb").ReadToEnd () + Environment.GetEnvironmentVariable ("HOME") + Environment.NewLine + Environment.CurrentDirectory);
		Console.In.ReadLine ();
	}

	static int Deep (int n) { if (n == 0) throw new InvalidOperationException ("deep", new ArgumentNullException ("n")); return Deep (n - 1) + 1; }

	static async Task<int> Async () { await Task.Delay (1); await Task.Yield (); return await Task.Run (() => 2); }

	static void Running () {
		try { Deep (3); } catch (Exception e) { Console.WriteLine (e.ToString () + e.GetBaseException ().Message + e.StackTrace.Length); } finally { Console.Out.Flush (); }
		try { object o = "a"; Console.WriteLine ((int) o); } catch (InvalidCastException) { }
		try { new int [1] [int.Parse ("2")]++; } catch (IndexOutOfRangeException) { }
		var clock = Stopwatch.StartNew (); var gate = new object (); int total = 0;
		var threads = Enumerable.Range (0, 2).Select (i => new Thread (() => { lock (gate) total += i; })).ToList ();
		threads.ForEach (t => t.Start ()); threads.ForEach (t => t.Join ());
		using (var done = new ManualResetEvent (false)) { ThreadPool.QueueUserWorkItem (s => done.Set ()); done.WaitOne (); }
		Console.WriteLine (Async ().Result + Task.WhenAll (Task.Run (() => 1), Task.Run (() => 2)).Result.Length); Parallel.For (0, 4, i => Interlocked.Increment (ref total));
		using (var timer = new Timer (s => { }, null, 0, 1000)) Thread.Sleep (2);
		using (var source = new CancellationTokenSource ()) { source.Cancel (); Console.WriteLine (source.Token.IsCancellationRequested); }
		new Lazy<int> (() => 1).Value.ToString (); new ThreadLocal<int> (() => 1).Value.ToString (); new WeakReference (gate).Target.ToString ();
		Console.WriteLine (clock.Elapsed.TotalMilliseconds > 0); GC.Collect ();
		var type = typeof (List<int>); var instance = Activator.CreateInstance (type); type.GetMethod ("Add").Invoke (instance, new object[] { 1 });
		Console.WriteLine (type.GetProperties ().Length + type.FullName + Assembly.GetExecutingAssembly ().GetName ().Name + type.GetProperty ("Count").GetValue (instance, null)
			+ typeof (Seed).GetMethods (BindingFlags.NonPublic | BindingFlags.Static).Length + typeof (Options).GetCustomAttributes (typeof (FlagsAttribute), false).Length
			+ Type.GetType ("System.Int32"));
	}

	static int Main (string[] args) {
		Text (); Collections (); Files (); Running ();
		Console.WriteLine (args.Length);
		return 0;
	}
}
