// The address of a field behind a null native pointer is only arithmetic; reading it is not.
// mcs: -unsafe
// net: skip the address of a field behind a null pointer is undefined in C#
using System;

unsafe struct Point { public int X; public int Y; }

unsafe class Program
{
    static Point* nowhere;

    [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
    static int Read(int* address) { return *address; }

    static void Main()
    {
        int* y = &nowhere->Y;
        Console.WriteLine((long)y);
        try { Console.WriteLine(nowhere->X); }
        catch (NullReferenceException) { Console.WriteLine("read"); }
        try { nowhere->Y = 1; }
        catch (NullReferenceException) { Console.WriteLine("written"); }
        try { Console.WriteLine(Read(y)); }
        catch (NullReferenceException) { Console.WriteLine("read through the address"); }
    }
}
