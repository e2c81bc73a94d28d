// A size given with explicit offsets is kept, in managed and in native memory, even if it does not fit the alignment.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit, Size = 153)]
struct Flag { [FieldOffset(0)] internal bool flag; }

[StructLayout(LayoutKind.Explicit, Size = 13)]
struct Numbers { [FieldOffset(0)] internal long first; [FieldOffset(8)] internal int second; }

[StructLayout(LayoutKind.Explicit, Size = 3)]
struct TooSmall { [FieldOffset(0)] internal int number; }

[StructLayout(LayoutKind.Explicit, Size = 5)]
class Reference { [FieldOffset(0)] internal int number; }

[StructLayout(LayoutKind.Explicit)]
struct Rounded { [FieldOffset(0)] internal long first; [FieldOffset(8)] internal int second; }

unsafe class Program
{
    static void Main()
    {
        Console.WriteLine("{0} {1} {2} {3}", sizeof(Flag), sizeof(Numbers), sizeof(TooSmall), sizeof(Rounded));
        foreach (var type in new[] { typeof(Flag), typeof(Numbers), typeof(TooSmall), typeof(Reference), typeof(Rounded) })
            Console.WriteLine("{0} {1}", type.Name, Marshal.SizeOf(type));
    }
}
