// Objects that only one method knows: the second tier keeps their fields in variables. Each scene runs before and after
// that, and must give the same results; scenes in which the object becomes known to others must, too.
// env: SAKI_TIERS=both
// env: SAKI_HOT_AFTER=40
using System;
using System.Collections.Generic;
using System.Threading;

class Point {
	public int X, Y;
	public Point (int x, int y) { X = x; Y = y; }
	public int Sum () { return X + Y; }
	public Point Moved (int by) { return new Point (X + by, Y + by); }
}

class Named : Point {
	public string Name;
	public long Big = 1L << 40;
	public byte Small;
	public Named (string name, int x) : base (x, 7) { Name = name; }
}

struct Pair { public int A; public long B; public Pair (int a, long b) { A = a; B = b; } }

class Holder {
	public Point Inside;
	public Pair Both;
	public double Number;
	public float Single;
	public object Any;
	public Holder (Point inside) { Inside = inside; }
}

interface IShape { int Area (); }
sealed class Square : IShape { public int Side; public int Area () { return Side * Side; } }
sealed class Strip : IShape { public int Length; public int Area () { return Length; } }

class Counted {
	public static int Dead;
	public int Value;
	public Counted (int value) { Value = value; }
	~Counted () { Interlocked.Increment (ref Dead); }
}

class Late {
	public static List<string> Log = new List<string> ();
	public int Value = 5;
	static Late () { Log.Add ("Late is initialised"); }
	public Late () { Log.Add ("made"); }
}

class Counter { public int At; public bool Next () { return ++At <= 10; } public int Current { get { return At * At; } } }

class Volatile { public volatile int Flag; public int Other; }

class Node { public int Value; public Node Next; }

static class EscapeObjects {
	static Point kept;
	static int failures;

	static int Local (int n) { var p = new Point (n, 2); p.X++; return p.Sum () * 10 + p.X; }

	static int Defaults (int n) {
		var h = new Holder (null);
		int sum = h.Inside == null ? 1 : 0;
		sum += h.Both.A + (int) h.Both.B + (int) h.Number + (int) h.Single + (h.Any == null ? 10 : 0);
		h.Both = new Pair (n, 1L << 33);
		h.Both.A += 3;
		h.Number = n * 0.5;
		h.Single = 1.5f;
		return sum + h.Both.A + (int) (h.Both.B >> 30) + (int) (h.Number * 2) + (int) (h.Single * 2);
	}

	static int Derived (int n) {
		var o = new Named ("abc", n);
		o.Small = (byte) (n + 300);
		return o.Sum () + o.Name.Length + (int) (o.Big >> 38) + o.Small;
	}

	static int Nested (int n) {
		var h = new Holder (new Point (n, n + 1));
		h.Inside.X += 5;
		var other = h.Inside;
		other.Y *= 2;
		return h.Inside.Sum () + (ReferenceEquals (other, h.Inside) ? 100 : 0);
	}

	static int Identity (int n) {
		Point a = new Point (n, 1), b = new Point (n, 1), c = a;
		int bits = 0;
		if (a == b) bits |= 1;
		if (a == c) bits |= 2;
		if (a != b) bits |= 4;
		if (a == null) bits |= 8;
		if (a != null) bits |= 16;
		if (ReferenceEquals (a, c)) bits |= 32;
		if ((object) a == (object) kept) bits |= 64;
		return bits;
	}

	static int Casts (int n) {
		object o = new Named ("x", n);
		int bits = 0;
		if (o is Point) bits |= 1;
		if (o is IShape) bits |= 2;
		if (o is string) bits |= 4;
		var p = o as Point;
		if (p != null) bits |= p.Y << 4;
		bits += ((Named) o).X << 8;
		try { bits += ((Square) o).Side; } catch (InvalidCastException) { bits |= 8; }
		return bits;
	}

	static int Virtual (int n) {
		IShape a = new Square { Side = n }, b = new Strip { Length = n };
		return a.Area () * 1000 + b.Area ();
	}

	static int ByType (int n) { return new Point (n, 1).GetType () == typeof (Point) ? n : -1; }

	static int OneOfTwo (int n) {
		Point p;
		if (n % 3 == 0) p = new Point (n, 1); else p = new Point (1, n);
		return p.X * 100 + p.Y;
	}

	static int Perhaps (int n) {
		Point p = null;
		if (n % 2 == 0) p = new Point (n, 1);
		if (p == null) return -1;
		return p.Sum ();
	}

	static int NullLater (int n) {
		Point p = new Point (n, 1);
		int sum = p.Sum ();
		p = null;
		try { return sum + p.X; } catch (NullReferenceException) { return sum + 1000; }
	}

	static int Loop (int n) {
		int sum = 0;
		for (int i = 0; i < 20; i++) { var p = new Point (i, n); sum += p.Sum (); p.X = 99; sum += p.X; }
		return sum;
	}

	// The object of one round is compared with that of the next.
	static int Carried (int n) {
		Point last = null;
		int sum = 0;
		for (int i = 0; i < 20; i++) {
			var p = new Point (i, n);
			if (last != null) { sum += p.X - last.X; if (last == p) sum += 1000; last.X = 50; }
			sum += p.X;
			last = p;
		}
		return sum + last.X;
	}

	// A variable that keeps the object of an earlier round.
	static int Kept (int n) {
		Point first = null, p = null;
		for (int i = 0; i < 10; i++) { p = new Point (i + n, i); if (i == 3) first = p; }
		return first.X * 100 + p.X;
	}

	static int Chain (int n) {
		var p = new Point (n, 0);
		for (int i = 0; i < 5; i++) p = p.Moved (i);
		return p.Sum ();
	}

	static int Iterate (int n) {
		var c = new Counter { At = n % 4 };
		int sum = 0;
		while (c.Next ()) sum += c.Current;
		return sum;
	}

	static int Divide (int a, int b) { return a / b; }

	static int Caught (int n) {
		var p = new Point (n, 1);
		try { p.X = 7; p.Y = Divide (10, n % 2); p.X = 8; } catch (DivideByZeroException) { p.Y += 100; }
		return p.X * 1000 + p.Y;
	}

	static int Final (int n) {
		var p = new Point (n, 1);
		int sum = 0;
		try {
			try { p.X = 7; sum += Divide (10, n % 2); p = new Point (3, 4); sum += p.X; }
			finally { sum += p.X * 10 + p.Y; p.Y = 50; }
		} catch (DivideByZeroException) { sum += p.X * 100 + p.Y; }
		return sum + p.Y;
	}

	static int Filtered (int n) {
		var p = new Point (n, 1);
		try { p.X = 70; Divide (1, n % 2); }
		catch (DivideByZeroException) when (p.X == 70 && p.Y++ == 1) { return p.X + p.Y; }
		return p.Sum ();
	}

	class Trouble : Exception { public int Code; public Trouble (int code) { Code = code; } }

	static int Thrown (int n) {
		try { var t = new Trouble (n); if (n % 2 == 0) throw t; return t.Code; }
		catch (Trouble t) { return t.Code + 10000; }
	}

	class Checked { public int Value; public Checked (int value) { if (value % 5 == 0) throw new ArgumentException (); Value = value; } }

	static int ThrowingConstructor (int n) {
		Checked c = null;
		try { c = new Checked (n); } catch (ArgumentException) { return c == null ? -1 : -2; }
		return c.Value;
	}

	static int Locked (int n) {
		var p = new Point (n, 1);
		lock (p) p.X++;
		lock (new object ()) n++;
		return p.X + n;
	}

	static void Add (ref int to, int n) { to += n; }

	static int ByReference (int n) {
		var p = new Point (n, 1);
		Add (ref p.X, 5);
		ref_Y (ref p.Y);
		Interlocked.Add (ref p.X, 3);
		return p.Sum ();
	}

	static void ref_Y (ref int y) { y = y * 2 + 1; }

	static int Fences (int n) { var v = new Volatile (); v.Flag = n; v.Other = v.Flag + 1; return v.Flag + v.Other; }

	static Point Given (int n) { var p = new Point (n, 3); p.X++; return p; }

	static int Escaping (int n) {
		var p = new Point (n, 4);
		if (n % 100 == 50) kept = p;
		p.X++;
		return p.Sum () + Given (n).Sum ();
	}

	static int List (int n) {
		var head = new Node { Value = n };
		head.Next = new Node { Value = n + 1, Next = new Node { Value = n + 2 } };
		return head.Value + head.Next.Value * 10 + head.Next.Next.Value * 100 + (head.Next.Next.Next == null ? 1000 : 0);
	}

	static int Ring (int n) {
		var a = new Node { Value = n };
		var b = new Node { Value = n + 1, Next = a };
		a.Next = b;
		return a.Next.Next.Value + b.Next.Next.Value * 10;
	}

	static int Twins (int n) {
		int sum = 0;
		var old = new Node { Value = 1 };
		for (int i = 0; i < 6; i++) {
			var fresh = new Node { Value = old.Value + n, Next = old };
			old = new Node { Value = fresh.Value + fresh.Next.Value };
			sum += fresh.Value;
		}
		return sum;
	}

	static int Texts (int n) {
		var o = new Named ("n" + n, 1);
		GC.KeepAlive (new byte[64]);
		return o.Name.Length + o.Name[1];
	}

	static void Check (string name, Func<int, int> scene) {
		var first = new int[10];
		for (int i = 0; i < 10; i++) first[i] = scene (i);
		for (int i = 0; i < 4000; i++) {
			int now = scene (i % 10);
			if (now != first[i % 10] && failures++ < 10) Console.WriteLine ("{0} ({1}): {2}, then {3}", name, i % 10, first[i % 10], now);
		}
		Console.WriteLine ("{0}: {1}", name, string.Join (" ", first));
	}

	static void MakeCounted () { int sum = 0; for (int i = 0; i < 5000; i++) sum += new Counted (i).Value; Console.WriteLine (sum); }

	static int MakeLate () { Late.Log.Add ("before"); var late = new Late (); return late.Value; }

	static void Main () {
		for (int round = 0; round < 2; round++) {
			Check ("local", Local);
			Check ("defaults", Defaults);
			Check ("derived", Derived);
			Check ("nested", Nested);
			Check ("identity", Identity);
			Check ("casts", Casts);
			Check ("virtual", Virtual);
			Check ("by type", ByType);
			Check ("one of two", OneOfTwo);
			Check ("perhaps", Perhaps);
			Check ("null later", NullLater);
			Check ("loop", Loop);
			Check ("carried", Carried);
			Check ("kept", Kept);
			Check ("chain", Chain);
			Check ("iterate", Iterate);
			Check ("caught", Caught);
			Check ("final", Final);
			Check ("filtered", Filtered);
			Check ("thrown", Thrown);
			Check ("throwing constructor", ThrowingConstructor);
			Check ("locked", Locked);
			Check ("by reference", ByReference);
			Check ("fences", Fences);
			Check ("escaping", Escaping);
			Check ("list", List);
			Check ("ring", Ring);
			Check ("twins", Twins);
			Check ("texts", Texts);
		}
		Console.WriteLine (kept == null);
		MakeCounted ();
		GC.Collect ();
		GC.WaitForPendingFinalizers ();
		Console.WriteLine (Counted.Dead > 4000);
		Console.WriteLine (MakeLate () + ": " + string.Join (", ", Late.Log));
		Console.WriteLine (failures + " failures");
	}
}
