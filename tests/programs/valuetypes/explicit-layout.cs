// Explicit offsets: sizes with packing and with a given size, derived classes over inherited fields, a reference that
// shares its word with a native integer.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit)]
struct Plain { [FieldOffset(0)] public int A; [FieldOffset(8)] public byte B; [FieldOffset(9)] public int C; [FieldOffset(13)] public int D; }

[StructLayout(LayoutKind.Explicit, Pack = 2)]
struct Tight { [FieldOffset(0)] public int A; [FieldOffset(8)] public byte B; [FieldOffset(9)] public int C; [FieldOffset(13)] public int D; }

[StructLayout(LayoutKind.Explicit, Size = 12)]
struct Sized { [FieldOffset(0)] public long A; [FieldOffset(8)] public int B; }

[StructLayout(LayoutKind.Explicit)]
class Base { [FieldOffset(0)] public int A; [FieldOffset(0)] public byte Low; }

[StructLayout(LayoutKind.Explicit)]
class Over : Base { [FieldOffset(0)] public int B; }

#if !NET
[StructLayout(LayoutKind.Explicit)]
struct Union { [FieldOffset(0)] public object Object; [FieldOffset(0)] public IntPtr Address; }
#endif

unsafe class Program
{
    static void Main()
    {
        Console.WriteLine("{0} {1} {2}", sizeof(Plain), sizeof(Tight), sizeof(Sized));
        var over = new Over { A = 0x102 };
        over.B += 1;
        Console.WriteLine("{0:x} {1}", over.A, over.Low);
#if !NET
        var union = new Union { Object = "text" };
        var again = new Union { Address = union.Address };
        Console.WriteLine(ReferenceEquals(again.Object, union.Object));
#endif
        var array = new Sized[3];
        array[1].B = 7;
        array[2].A = -1;
        Console.WriteLine("{0} {1}", array[1].B, array[2].A);
    }
}
