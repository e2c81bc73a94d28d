// Explicit layout needs sizes that a generic type does not have: none of its instantiations can be loaded.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit)]
struct Overlay<T>
{
    [FieldOffset(0)] public T Value;
    [FieldOffset(8)] public int Number;
}

[StructLayout(LayoutKind.Explicit)]
class Laid<T>
{
    [FieldOffset(0)] public int Number;
}

[StructLayout(LayoutKind.Explicit, Size = 12)]
struct Plain
{
    [FieldOffset(0)] public long Value;
    [FieldOffset(0)] public int Low;
}

class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static object MakeStruct() { return new Overlay<int>(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object MakeClass() { return new Laid<string>(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object MakePlain() { return new Plain { Value = 0x100000005 }.Low; }

    static void Try(Func<object> make)
    {
        try { Console.WriteLine(make()); }
        catch (TypeLoadException) { Console.WriteLine("TypeLoadException"); }
    }

    static void Main()
    {
        Try(MakeStruct);
        Try(MakeClass);
        Try(MakePlain);
        Console.WriteLine(Marshal.SizeOf(typeof(Plain)));
    }
}
