// Native code calls delegates.
using System;
using System.Runtime.InteropServices;

class Callbacks
{
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Compare(ref int a, ref int b);

    [DllImport("libc")]
    static extern void qsort(int[] numbers, IntPtr count, IntPtr size, Compare compare);

    static void Main()
    {
        var numbers = new[] { 3, 1, 2 };
        Compare up = (ref int a, ref int b) => a.CompareTo(b), down = (ref int a, ref int b) => b.CompareTo(a);
        foreach (var order in new[] { up, down })
        {
            qsort(numbers, (IntPtr)3, (IntPtr)sizeof(int), order);
            Console.Write(string.Join(" ", numbers) + "\n");
        }
    }
}
