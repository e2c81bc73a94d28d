using System.Runtime.CompilerServices;

public static class Embedding
{
	[MethodImpl (MethodImplOptions.InternalCall)]
	static extern int Add (int a, int b);

	public static void Empty () { }

	public static int Loop (int n)
	{
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum = Add (sum, i);
		return sum;
	}
}
