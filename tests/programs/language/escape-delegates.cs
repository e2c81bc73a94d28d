// Delegates and closures that only one method knows: the second tier calls their methods directly, or in place, and
// keeps what they capture in variables. Each scene runs before and after that, and must give the same results.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

delegate int Change (ref int value, int by);
delegate void Act (int n);

static class EscapeDelegates {
	static int failures;

	static int Captures (int n) { Func<int, int> f = x => x + n; return f (3) * 10 + f (4); }

	static int Writes (int n) {
		int count = 0, last = n;
		Act act = x => { count++; last = x * 2; };
		act (5);
		act (n);
		last++;
		return count * 1000 + last;
	}

	static int Plain (int n) { Func<int, int> f = x => x * 3; return f (n) + new Func<int, int> (Twice) (n); }

	static int Twice (int n) { return n * 2; }

	static int Apply (Func<int, int> f, int n) { return f (n) + 1; }

	static int Passed (int n) { return Apply (x => x + n, 4) + Apply (Twice, n); }

	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Far (Func<int, int> f, int n) { return f (n) + 1; }

	static int PassedFar (int n) { int k = n * 2; Func<int, int> f = x => x + k; k++; return Far (f, 4) + f (1); }

	static int Nested (int n) {
		Func<int, Func<int, int>> add = a => b => a * 100 + b + n;
		return add (2) (3) + add (n) (1);
	}

	static int TwoScopes (int n) {
		int sum = 0;
		for (int i = 0; i < 4; i++) {
			int square = i * i;
			Act act = x => sum += square * x + n;
			act (2);
			square = 0;
			act (1000);
		}
		return sum;
	}

	static int Collected (int n) {
		var all = new List<Func<int>> ();
		for (int i = 0; i < 4; i++) { int k = i + n; all.Add (() => k++); }
		int sum = 0;
		foreach (var f in all) sum += f () * 10 + f ();
		return sum;
	}

	static int ByReference (int n) {
		int k = n, v = 5;
		Change change = (ref int value, int by) => { value += by + k; return value; };
		int result = change (ref v, 2);
		return result * 100 + v;
	}

	static int Multicast (int n) {
		int sum = 0;
		Act a = x => sum += x, b = x => sum += x * 10, both = a + b;
		both (n);
		(both - a) (1);
		return sum;
	}

	static int Equality (int n) {
		Func<int, int> a = Twice, b = Twice, c = a;
		return (a == b ? 1 : 0) + (ReferenceEquals (a, b) ? 2 : 0) + (ReferenceEquals (a, c) ? 4 : 0) + (a.Target == null ? 8 : 0)
			+ (a.Method.Name == "Twice" ? 16 : 0) + (a is MulticastDelegate ? 32 : 0) + ((object) a is Action ? 64 : 0);
	}

	static int OneOfTwo (int n) {
		Func<int, int> f;
		if (n % 2 == 0) f = x => x + n; else f = x => x - n;
		return f (100);
	}

	static int Throws (int n) {
		int state = 1;
		Func<int, int> f = x => { state = 2; int r = 100 / x; state = 3; return r; };
		try { return f (n % 2) + state; } catch (DivideByZeroException) { return -state; }
	}

	static int Finally (int n) {
		int state = 1;
		Func<int, int> f = x => { try { return 100 / x; } finally { state += 10; } };
		try { return f (n % 2) + state; } catch (DivideByZeroException) { return -state; }
	}

	class Owner {
		public int Factor = 3;
		public int Scaled (int n) { Func<int, int> f = x => x * Factor; return f (n) + f (1); }
		public int Group (int n) { Func<int, int> f = Scale; return f (n); }
		int Scale (int n) { return n * Factor; }
		public virtual int Open (int n) { return n + 1; }
	}

	class Derived : Owner { public override int Open (int n) { return n + 50; } }

	static Owner owner = new Owner (), derived = new Derived ();

	static int OnThis (int n) { return owner.Scaled (n) + owner.Group (n); }

	static int Virtual (int n) { Func<int, int> a = owner.Open, b = derived.Open; return a (n) * 1000 + b (n); }

	static int NewTarget (int n) { Func<int, int> f = new Derived ().Open; return f (n); }

	static int NullTarget (int n) {
		Owner none = n % 2 == 0 ? null : owner;
		try { Func<int, int> f = none.Group; return f (n); } catch (NullReferenceException) { return -1; } catch (ArgumentException) { return -2; }
	}

	static int NullDelegate (int n) {
		Func<int, int> f = null;
		if (n % 3 == 0) f = x => x + n;
		try { return f (1); } catch (NullReferenceException) { return -1; }
	}

	struct Wide { public long A, B, C; public Wide (long a) { A = a; B = a + 1; C = a + 2; } }

	static int Structs (int n) {
		var w = new Wide (n);
		Func<Wide, Wide> f = x => { x.A += w.B; w.C = 9; return x; };
		var r = f (new Wide (10));
		return (int) (r.A + r.B * 10 + w.C * 100 + w.A);
	}

	static int Text (int n) {
		string s = "v" + n;
		Func<string, string> f = t => t + s;
		s += "!";
		return f ("ab").Length + f ("c")[1];
	}

	static int Recursive (int n) {
		Func<int, int> fact = null;
		fact = x => x <= 1 ? 1 : x * fact (x - 1);
		return fact (n % 8);
	}

	static int OnStruct (int n) { var w = n; Func<int, bool> f = w.Equals; return f (4) ? 1 : 0; }

	[MethodImpl (MethodImplOptions.NoInlining)]
	static void Fail (int n) { if (n > 3) throw new InvalidOperationException ("n is " + n); }

	static int Traces (int n) {
		int k = n;
		Act act = x => Fail (x + k);
		try { act (2); return 0; } catch (InvalidOperationException e) { return e.StackTrace.Contains ("Fail") && e.StackTrace.Contains ("Traces") ? e.Message.Length : -1; }
	}

	static void Check (string name, Func<int, int> scene) {
		var first = new int[10];
		for (int i = 0; i < 10; i++) first[i] = scene (i);
		for (int i = 0; i < 3000; i++) {
			int now = scene (i % 10);
			if (now != first[i % 10] && failures++ < 10) Console.WriteLine ("{0} ({1}): {2}, then {3}", name, i % 10, first[i % 10], now);
		}
		Console.WriteLine ("{0}: {1}", name, string.Join (" ", first));
	}

	static void Main () {
		for (int round = 0; round < 2; round++) {
			Check ("captures", Captures);
			Check ("writes", Writes);
			Check ("plain", Plain);
			Check ("passed", Passed);
			Check ("passed far", PassedFar);
			Check ("nested", Nested);
			Check ("two scopes", TwoScopes);
			Check ("collected", Collected);
			Check ("by reference", ByReference);
			Check ("multicast", Multicast);
			Check ("equality", Equality);
			Check ("one of two", OneOfTwo);
			Check ("throws", Throws);
			Check ("finally", Finally);
			Check ("on this", OnThis);
			Check ("virtual", Virtual);
			Check ("new target", NewTarget);
			Check ("null target", NullTarget);
			Check ("null delegate", NullDelegate);
			Check ("structs", Structs);
			Check ("text", Text);
			Check ("recursive", Recursive);
			Check ("on struct", OnStruct);
			Check ("traces", Traces);
		}
		Console.WriteLine (failures + " failures");
	}
}
