// Fixed-size buffers in structs: all their elements count where a struct by value goes, and characters follow the struct's CharSet.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

static unsafe class Program
{
    struct Ints { public fixed int V[3]; }
    struct PlainInts { public int A, B, C; }
    struct Floats { public fixed float V[4]; }
    struct PlainFloats { public float A, B, C, D; }
    struct Mixed { public fixed byte V[12]; public float F; }
    struct PlainMixed { public long A; public int B; public float F; }

    [StructLayout (LayoutKind.Sequential, CharSet = CharSet.Ansi)]
    struct Ansi { public fixed char Text[8]; public char C; }

    [StructLayout (LayoutKind.Sequential, CharSet = CharSet.Unicode)]
    struct Wide { public fixed char Text[8]; public char C; }

    struct IntsAndText { public fixed int V[4]; public fixed char Text[3]; }

    delegate string UseInts (Ints value);
    delegate string UsePlainInts (PlainInts value);
    delegate string UseFloats (Floats value);
    delegate string UsePlainFloats (PlainFloats value);
    delegate string UseMixed (Mixed value);
    delegate string UsePlainMixed (PlainMixed value);

    [DllImport ("libc")] static extern IntPtr mmap (IntPtr address, IntPtr size, int protection, int flags, int file, IntPtr offset);

    static IntPtr code = mmap (IntPtr.Zero, (IntPtr) 4096, 7, 0x22, -1, IntPtr.Zero);

    // The delegate's function as native code calls it, behind a jump (mov rax, target; jmp rax; aarch64: ldr x16, .+8; br x16): the pointer itself would be taken
    // for the delegate again.
    static T As<T> (Delegate target)
    {
        IntPtr start = code;
        if (RuntimeInformation.ProcessArchitecture == Architecture.Arm64) {
            Marshal.WriteInt64 (code, 0, unchecked ((long) 0xd61f020058000050));
            Marshal.WriteIntPtr (code, 8, Marshal.GetFunctionPointerForDelegate (target));
        } else {
            Marshal.WriteInt16 (code, 0, unchecked ((short) 0xb848));
            Marshal.WriteIntPtr (code, 2, Marshal.GetFunctionPointerForDelegate (target));
            Marshal.WriteInt16 (code, 10, unchecked ((short) 0xe0ff));
        }
        code += 16;
        return (T) (object) Marshal.GetDelegateForFunctionPointer (start, typeof (T));
    }

    static string Bytes (IntPtr memory, int count)
    {
        var bytes = new byte[count];
        Marshal.Copy (memory, bytes, 0, count);
        return BitConverter.ToString (bytes);
    }

    static void Main ()
    {
        UsePlainInts plainInts = value => value.A + " " + value.B + " " + value.C;
        var ints = new Ints ();
        for (int i = 0; i < 3; i++)
            ints.V[i] = i + 1;
        Console.WriteLine (As<UseInts> (plainInts) (ints));
        UseInts useInts = value => value.V[0] + " " + value.V[1] + " " + value.V[2];
        Console.WriteLine (As<UsePlainInts> (useInts) (new PlainInts { A = 4, B = 5, C = 6 }));

        UsePlainFloats plainFloats = value => value.A + " " + value.B + " " + value.C + " " + value.D;
        var floats = new Floats ();
        for (int i = 0; i < 4; i++)
            floats.V[i] = i + 0.5f;
        Console.WriteLine (As<UseFloats> (plainFloats) (floats));
        UseFloats useFloats = value => value.V[0] + " " + value.V[1] + " " + value.V[2] + " " + value.V[3];
        Console.WriteLine (As<UsePlainFloats> (useFloats) (new PlainFloats { A = 4.25f, B = 5.25f, C = 6.25f, D = 7.25f }));

        UsePlainMixed plainMixed = value => value.A.ToString ("x") + " " + value.B.ToString ("x") + " " + value.F;
        var mixed = new Mixed { F = 1.5f };
        for (int i = 0; i < 12; i++)
            mixed.V[i] = (byte) (i + 1);
        Console.WriteLine (As<UseMixed> (plainMixed) (mixed));
        UseMixed useMixed = value => value.V[0] + " " + value.V[8] + " " + value.F;
        Console.WriteLine (As<UsePlainMixed> (useMixed) (new PlainMixed { A = 7, B = 8, F = 9.5f }));

        Console.WriteLine ("{0} {1}", Marshal.SizeOf (typeof (IntsAndText)), sizeof (IntsAndText));
        Console.WriteLine ("{0} {1}", Marshal.SizeOf (typeof (Wide)), Marshal.OffsetOf (typeof (Wide), "C"));
        Console.WriteLine (Marshal.SizeOf (typeof (Ansi)));
        IntPtr memory = Marshal.AllocHGlobal (32);
        var ansi = new Ansi { C = 'z' };
        var wide = new Wide { C = 'z' };
        for (int i = 0; i < 8; i++)
            ansi.Text[i] = wide.Text[i] = (char) ('a' + i);
        Marshal.StructureToPtr (ansi, memory, false);
        Console.WriteLine (Bytes (memory, 9));
        Marshal.WriteByte (memory, 1, (byte) 'B');
        ansi = (Ansi) Marshal.PtrToStructure (memory, typeof (Ansi));
        Console.WriteLine (new string (ansi.Text, 0, 8) + ansi.C);
        Marshal.StructureToPtr (wide, memory, false);
        Console.WriteLine (Bytes (memory, 18));
        wide = (Wide) Marshal.PtrToStructure (memory, typeof (Wide));
        Console.WriteLine (new string (wide.Text, 0, 8) + wide.C);
        Marshal.FreeHGlobal (memory);
        GC.KeepAlive (plainInts); GC.KeepAlive (useInts); GC.KeepAlive (plainFloats); GC.KeepAlive (useFloats);
        GC.KeepAlive (plainMixed); GC.KeepAlive (useMixed);
    }
}
