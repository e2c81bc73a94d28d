using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

public static class Embedding
{
	[MethodImpl (MethodImplOptions.InternalCall)]
	static extern int Add (int a, int b);

	public static void Empty () { }

	static readonly Action called = Empty;

	public static IntPtr Pointer ()
	{
		return Marshal.GetFunctionPointerForDelegate (called);
	}

	public static int Loop (int n)
	{
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum = Add (sum, i);
		return sum;
	}
}
