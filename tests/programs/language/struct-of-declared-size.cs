// Structs that declare a size: the bytes behind the last field are copied with the struct.
// mcs: -unsafe
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Size = 16)]
struct Sized
{
    public long First;
    public int Second;
}

unsafe struct Buffer
{
    public long First;
    public fixed int Numbers[2];
    public byte Last;
}

struct Outer
{
    public Sized Inner;
    public Buffer Buffer;
}

static unsafe class Program
{
    static Outer kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Outer Copy(Outer value) { return value; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Sized Copy(Sized value) { return value; }

    static int Hidden(Sized* sized) { return ((int*)sized)[3]; }

    static void Main()
    {
        Outer outer = default(Outer);
        outer.Inner.First = 1;
        outer.Inner.Second = 2;
        ((int*)&outer.Inner)[3] = 3;
        outer.Buffer.First = 4;
        outer.Buffer.Numbers[0] = 5;
        outer.Buffer.Numbers[1] = 6;
        outer.Buffer.Last = 7;
        kept = Copy(outer);
        var all = new[] { default(Outer), kept };
        all[0] = Copy(all[1]);
        Outer last = all[0];
        Sized inner = Copy(last.Inner);
        Console.WriteLine("{0} {1} {2}", inner.First, inner.Second, Hidden(&inner));
        Console.WriteLine("{0} {1} {2} {3} {4}", Hidden(&last.Inner), last.Buffer.First, last.Buffer.Numbers[0], last.Buffer.Numbers[1], last.Buffer.Last);
    }
}
