// Objects die with the last use of the locals that held them, while the method goes on: in straight code, around try
// regions, in loops, in branches of a switch and in callers further out.
// env: SAKI_TIERS=2
// first-tier: skip some slots of its frames count as live for ever
// net: skip how long a local keeps its object differs there with the tier of the code
using System;
using System.Runtime.CompilerServices;

class DeadLocals
{
	class Node
	{
		public byte[] Data = new byte[1000];
	}

	static WeakReference weak;

	[MethodImpl (MethodImplOptions.NoInlining)]
	static Node Make ()
	{
		var node = new Node ();
		weak = new WeakReference (node);
		return node;
	}

	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Use (Node node)
	{
		return node.Data.Length;
	}

	// Has values of its own in every register that calls preserve.
	[MethodImpl (MethodImplOptions.NoInlining)]
	static int Collect (int depth, int a, int b, int c, int d)
	{
		if (depth == 0) {
			GC.Collect ();
			return a + b + c + d;
		}
		int inner = Collect (depth - 1, b + 1, c + 2, d + 3, a + 4);
		return inner + a * b + c * d + depth;
	}

	static void Show (string what)
	{
		Collect (6, 1, 2, 3, 4);
		Console.WriteLine ("{0}: {1}", what, weak.IsAlive ? "alive" : "dead");
	}

	static void Straight ()
	{
		var node = Make ();
		Show ("before the last use");
		Use (node);
		Show ("after the last use");
	}

	static void Protected ()
	{
		Node node = Make ();
		try {
			Show ("in try, used in finally");
		} finally {
			Use (node);
		}
		Show ("behind finally");
		try {
			node = Make ();
			Use (node);
			throw new InvalidOperationException ();
		} catch (InvalidOperationException) {
			node = null;
			Show ("set to null in catch");
		}
		Show ("behind catch");
	}

	static int Loop ()
	{
		int sum = 0;
		Node node = null;
		for (int i = 0; i < 3; i++) {
			node = Make ();
			sum += Use (node) + Use (node);
			Show ("in a loop that makes it anew");
		}
		return sum;
	}

	static int Switch (int way, Node node)
	{
		switch (way) {
		case 0:
			return Use (node);
		case 1:
			Show ("in a branch without use");
			return 1;
		case 2:
			Show ("in a branch that uses it");
			return Use (node) + 2;
		case 3:
			return Use (node) + 3;
		case 4:
			return Use (node) + 4;
		default:
			return 5;
		}
	}

	[MethodImpl (MethodImplOptions.NoInlining)]
	static void Outer (int depth)
	{
		var node = Make ();
		Use (node);
		if (depth == 0)
			Show ("in callers");
		else
			Outer (depth - 1);
	}

	static void Main ()
	{
		Straight ();
		Protected ();
		Loop ();
		for (int way = 0; way < 6; way++)
			Switch (way, Make ());
		Outer (10);
	}
}
