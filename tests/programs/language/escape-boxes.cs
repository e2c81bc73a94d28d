// Boxes that only one method knows: the second tier keeps their values in variables. Each scene runs before and after
// that, and must give the same results.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Collections.Generic;

enum Colour { Red, Green, Blue }

[Flags] enum Marks : byte { None, A = 1, B = 2, C = 4 }

struct Money : IEquatable<Money>, IComparable {
	public long Units; public int Cents;
	public Money (long units, int cents) { Units = units; Cents = cents; }
	public bool Equals (Money other) { return Units == other.Units && Cents == other.Cents; }
	public override bool Equals (object other) { return other is Money && Equals ((Money) other); }
	public override int GetHashCode () { return (int) Units * 31 + Cents; }
	public int CompareTo (object other) { var m = (Money) other; return Units.CompareTo (m.Units) * 2 + Cents.CompareTo (m.Cents); }
}

struct Big { public long A, B, C, D, E, F, G, H; }

struct WithText { public string Text; public int Number; }

interface IStep { int Step (); }

struct Stepper : IStep { public int At; public int Step () { return At += 3; } }

static class EscapeBoxes {
	static int failures;

	static int Unboxed (int n) { object o = n; return o is int ? (int) o + 1 : -1; }

	static int Wrong (int n) {
		object o = n;
		try { return (int) (long) o; } catch (InvalidCastException) { return n + 50; }
	}

	static int Null (int n) {
		object o = n % 2 == 0 ? (object) n : null;
		try { return (int) o; } catch (NullReferenceException) { return -n; }
	}

	static int Kinds (int n) {
		object o = n % 4 == 0 ? 1.5 : (object) (short) n;
		int bits = 0;
		if (o is double) bits |= 1;
		if (o is short) bits |= 2;
		if (o is IComparable) bits |= 4;
		if (o is ValueType) bits |= 8;
		if (o is IFormattable) bits |= 16;
		object p = (byte) n;
		if (p is sbyte) bits |= 32;
		if (p is byte) bits |= 64;
		return bits;
	}

	static int Identity (int n) {
		object a = n, b = n, c = a;
		return (a == b ? 1 : 0) + (a == c ? 2 : 0) + (a.Equals (b) ? 4 : 0) + (ReferenceEquals (n, n) ? 8 : 0) + (a != null ? 16 : 0);
	}

	static int Equal (int n) {
		object o = n;
		return (5.Equals (o) ? 1 : 0) + (n.Equals ((object) (long) n) ? 2 : 0) + (new Money (n, 5).Equals ((object) new Money (n, 5)) ? 4 : 0);
	}

	static int Compared (int n) { object m = new Money (n, 3); return new Money (4, 3).CompareTo (m); }

	static bool Same<T> (T a, T b) { return a.Equals (b); }
	static bool IsNull<T> (T a) { return a == null; }
	static int Hash<T> (T a) { object o = a; return o == null ? 0 : o.GetHashCode (); }
	static T Through<T> (T a) { object o = a; return (T) o; }

	static int Generic (int n) {
		int bits = 0;
		if (Same (n, 4)) bits |= 1;
		if (Same (Colour.Blue, (Colour) (n % 3))) bits |= 2;
		if (Same (new Money (1, n), new Money (1, 3))) bits |= 4;
		if (IsNull (n)) bits |= 8;
		if (IsNull<string> (null)) bits |= 16;
		return bits + Hash (n) * 100 + Through (n) + (int) Through (new Money (n, 1)).Units;
	}

	static int Enums (int n) {
		object o = (Colour) (n % 3);
		int bits = 0;
		if (o is Colour) bits |= 1;
		if (o is int) bits |= 2;
		if (o.Equals (Colour.Green)) bits |= 4;
		var marks = (Marks) (n % 8);
		if (marks.HasFlag (Marks.B)) bits |= 8;
		if (marks.HasFlag (Marks.A | Marks.C)) bits |= 16;
		return bits + (int) o * 100;
	}

	static int Structs (int n) {
		object o = new WithText { Text = "t" + n, Number = n };
		GC.KeepAlive (new byte[100]);
		var copy = (WithText) o;
		copy.Number += 1000;
		return copy.Number + copy.Text.Length + ((WithText) o).Number + ((WithText) o).Text[1];
	}

	static int Large (int n) {
		object o = new Big { A = n, H = n * 2 };
		var big = (Big) o;
		big.A++;
		return (int) (big.A + big.H + ((Big) o).A + ((Big) o).D);
	}

	// A box is changed by a call of the interface's method on it, and the value is not.
	static int Steps (int n) {
		var s = new Stepper { At = n };
		IStep boxed = s;
		boxed.Step ();
		int at = boxed.Step ();
		return at * 100 + s.At + ((Stepper) boxed).At;
	}

	static int Nullables (int n) {
		int? maybe = n % 2 == 0 ? n : (int?) null;
		object o = maybe;
		if (o == null) return -1;
		int? back = (int?) o;
		return back.Value + (o is int? ? 100 : 0);
	}

	static int Loop (int n) {
		int sum = 0;
		for (int i = 0; i < 20; i++) { object o = i + n; if (o is int) sum += (int) o; }
		return sum;
	}

	static int Carried (int n) {
		object last = n;
		int sum = 0;
		for (int i = 0; i < 10; i++) { object o = i; sum += (int) last * i; if (o == last) sum += 1000; last = o; }
		return sum;
	}

	static int Catches (int n) {
		object o = n;
		try { o = 10 / (n % 2); } catch (DivideByZeroException) { return (int) o + 500; }
		return (int) o;
	}

	static object kept;
	static int Stored (int n) { object o = n; if (n == 5) kept = o; return (int) o + (kept == o ? 100 : 0); }

	static int Formatted (int n) { return string.Format ("{0}-{1}", n, n + 1).Length + (n + "x").Length; }

	static int Compare (int n) { return Comparer<int>.Default.Compare (n, 5) + (EqualityComparer<Money>.Default.Equals (new Money (n, 1), new Money (2, 1)) ? 10 : 0); }

	static void Check (string name, Func<int, int> scene) {
		var first = new int[10];
		for (int i = 0; i < 10; i++) first[i] = scene (i);
		for (int i = 0; i < 4000; i++) {
			int now = scene (i % 10);
			if (now != first[i % 10] && failures++ < 10) Console.WriteLine ("{0} ({1}): {2}, then {3}", name, i % 10, first[i % 10], now);
		}
		Console.WriteLine ("{0}: {1}", name, string.Join (" ", first));
	}

	static void Main () {
		for (int round = 0; round < 2; round++) {
			kept = null;
			Check ("unboxed", Unboxed);
			Check ("wrong", Wrong);
			Check ("null", Null);
			Check ("kinds", Kinds);
			Check ("identity", Identity);
			Check ("equal", Equal);
			Check ("compared", Compared);
			Check ("generic", Generic);
			Check ("enums", Enums);
			Check ("structs", Structs);
			Check ("large", Large);
			Check ("steps", Steps);
			Check ("nullables", Nullables);
			Check ("loop", Loop);
			Check ("carried", Carried);
			Check ("catches", Catches);
			Check ("stored", Stored);
			Check ("formatted", Formatted);
			Check ("compare", Compare);
		}
		Console.WriteLine (failures + " failures");
	}
}
