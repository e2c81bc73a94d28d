// StructLayout.Size is exact, as in .NET: it is not rounded up to the alignment of the fields, in memory and for native code; references stay on word boundaries.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

[StructLayout (LayoutKind.Sequential, Size = 5)] struct Five { public int i; }
[StructLayout (LayoutKind.Sequential, Size = 2)] struct TooSmall { public int i; public byte b; }
[StructLayout (LayoutKind.Sequential, Size = 13, Pack = 4)] struct Packed { public long l; }
[StructLayout (LayoutKind.Explicit, Size = 7)] struct Explicit { [FieldOffset (2)] public short s; }
[StructLayout (LayoutKind.Explicit, Size = 12)] struct WithReference { [FieldOffset (0)] public object o; [FieldOffset (8)] public byte b; }
struct Outer { public byte b; public Five f; public byte c; }
[StructLayout (LayoutKind.Sequential, Size = 9)] class NativeClass { public int i; }

unsafe class Program {
	static string Native<T> () { try { return Marshal.SizeOf (typeof (T)).ToString (); } catch (ArgumentException) { return "none"; } }

	static void Main () {
		Console.WriteLine (sizeof (Five) + " " + Native<Five> () + ", " + sizeof (TooSmall) + " " + Native<TooSmall> () + ", " + sizeof (Packed) + " " + Native<Packed> () + ", " + sizeof (Explicit) + " " + Native<Explicit> ());
		Console.WriteLine (sizeof (Outer) + " " + Native<Outer> () + " " + Marshal.OffsetOf (typeof (Outer), "c") + ", " + Native<NativeClass> ());
		var fives = new Five [5];
		for (int i = 0; i < fives.Length; i++) fives [i].i = i * 0x01010101;
		int sum = 0;
		foreach (var five in fives) sum += five.i;
		fixed (Five* p = fives) Console.WriteLine (sum.ToString ("x") + " " + ((byte*) (p + 1) - (byte*) p));
		var many = new WithReference [100];
		for (int i = 0; i < many.Length; i++) { many [i].o = new string ((char) ('a' + i % 26), 3); many [i].b = (byte) i; }
		for (int i = 0; i < 5; i++) { GC.Collect (); GC.KeepAlive (new byte [100000]); }
		bool isRight = true;
		for (int i = 0; i < many.Length; i++) isRight &= (string) many [i].o == new string ((char) ('a' + i % 26), 3) && many [i].b == i;
		Console.WriteLine (isRight);
		var memory = Marshal.AllocHGlobal (16);
		for (int i = 0; i < 16; i++) Marshal.WriteByte (memory, i, 0xee);
		Marshal.StructureToPtr (new Five { i = 0x04030201 }, memory, false);
		Console.WriteLine (((Five) Marshal.PtrToStructure (memory, typeof (Five))).i.ToString ("x") + " " + Marshal.ReadByte (memory, 5).ToString ("x"));
		Marshal.FreeHGlobal (memory);
	}
}
