// A process that forks in native code while its threads allocate, compile and collect: the child runs managed code with a collector, threads, a pool and finalizers of its own,
// and the parent goes on. Code that the two compile afterwards is each one's own.
// timeout: 120
// net: skip a process of .NET cannot fork
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Program {
	[DllImport ("libc", SetLastError = true)] static extern int fork ();
	[DllImport ("libc")] static extern int waitpid (int pid, out int status, int options);
	[DllImport ("libc")] static extern int getpid ();
	[DllImport ("libc")] static extern uint alarm (uint seconds);

	class Counted {
		public static int Dead;
		~Counted () { Interlocked.Increment (ref Dead); }
	}

	static volatile bool stops;
	static volatile int churned, compiled;

	static int Emitted (int n) {
		var method = new DynamicMethod ("emitted", typeof (int), new [] { typeof (int) });
		var il = method.GetILGenerator ();
		il.Emit (OpCodes.Ldarg_0); il.Emit (OpCodes.Ldc_I4, n); il.Emit (OpCodes.Add); il.Emit (OpCodes.Ret);
		return ((Func<int, int>) method.CreateDelegate (typeof (Func<int, int>))) (1);
	}

	static void Churn () {
		var keep = new List<object> ();
		while (!stops) {
			keep.Add (new byte [1000]);
			if (keep.Count > 500) keep.Clear ();
			churned++;
		}
	}

	static void Compile () {
		for (int i = 0; !stops; i++) {
			if (Emitted (i) != i + 1) Console.WriteLine ("wrong code");
			compiled++;
		}
	}

	[System.Runtime.CompilerServices.MethodImpl (System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
	static void MakeGarbage () { for (int i = 0; i < 50; i++) new Counted (); }

	static string ChildWork (int round) {
		for (int i = 0; i < 200; i++)
			if (Emitted (i * 3) != i * 3 + 1) return "wrong code";
		var sums = new SortedDictionary<string, decimal> ();
		foreach (var g in Enumerable.Range (0, 1000).GroupBy (n => n % 7)) sums [g.Key.ToString ()] = g.Sum (n => (decimal) n);
		MakeGarbage ();
		GC.Collect ();
		GC.WaitForPendingFinalizers ();
		if (Counted.Dead < 40) return "no finalizers: " + Counted.Dead;
		int total = 0;
		var threads = Enumerable.Range (0, 4).Select (n => new Thread (() => { for (int i = 0; i < 1000; i++) { Interlocked.Add (ref total, n); if (i % 100 == 0) Thread.Yield (); } })).ToArray ();
		foreach (var t in threads) t.Start ();
		foreach (var t in threads) t.Join ();
		if (total != 6000) return "threads: " + total;
		var tasks = Enumerable.Range (0, 20).Select (n => Task.Run (() => { Thread.Sleep (1); return n; })).ToArray ();
		if (!Task.WaitAll (tasks, 60000)) return "the pool does nothing";
		var path = Path.GetTempFileName ();
		File.WriteAllText (path, sums.Values.Sum ().ToString ());
		var text = File.ReadAllText (path);
		File.Delete (path);
		return text == "499500" ? "ok" : text;
	}

	static int Main () {
		var threads = new [] { new Thread (Churn), new Thread (Churn), new Thread (Compile) };
		foreach (var t in threads) t.Start ();
		while (churned < 1000 || compiled < 20) Thread.Sleep (1);
		for (int round = 0; round < 6; round++) {
			Counted.Dead = 0;
			int parent = getpid ();
			int pid = fork ();
			if (pid == 0) {
				alarm (60);
				stops = true;
				string result = ChildWork (round);
				Console.WriteLine ("child: " + result + ", " + (getpid () != parent ? "another process" : "the same process"));
				Environment.Exit (result == "ok" ? 40 + round : 1);
			}
			int status;
			if (waitpid (pid, out status, 0) != pid) Console.WriteLine ("no child");
			Console.WriteLine ("parent: exit code " + ((status & 127) == 0 ? status >> 8 : -(status & 127)));
			int before = churned, beforeCompiled = compiled;
			while (churned == before || compiled == beforeCompiled) Thread.Sleep (1);
		}
		stops = true;
		foreach (var t in threads) t.Join ();
		GC.Collect ();
		Console.WriteLine ("parent: done");
		return 0;
	}
}
