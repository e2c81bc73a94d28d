// What delegates give back to native code: floats of an array or a fixed-size buffer in a struct, an array of bool, and zeros in place
// of the struct that an exception prevented; and a date that they get.
// mcs: -unsafe
using System;
using System.Runtime.InteropServices;

static unsafe class Program
{
    struct Floats { [MarshalAs (UnmanagedType.ByValArray, SizeConst = 2)] public float[] Values; }
    struct NativeFloats { public float A, B; }
    struct Large { public bool A; public string Name; public double Real; }
    struct NativeLarge { public int A; public IntPtr Name; public double Real; }
    struct Behind { public double D; public fixed float V[2]; }
    struct PlainBehind { public double D; public float A, B; }
    delegate Behind SwapBehind (PlainBehind value);
    delegate PlainBehind SwapPlainBehind (Behind value);
    struct Four { [MarshalAs (UnmanagedType.ByValArray, SizeConst = 4)] public float[] Values; }
    struct NativeFour { public float A, B, C, D; }
    delegate Four Turn (Four four);
    delegate NativeFour NativeTurn (NativeFour four);
    delegate Floats Swap (Floats floats);
    delegate NativeFloats NativeSwap (NativeFloats floats);
    delegate Large Change (Large large, int number);
    delegate NativeLarge NativeChange (NativeLarge large, int number);

    delegate int Negate (int count, [In, Out, MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 0)] bool[] flags);
    delegate int NativeNegate (int count, int[] flags);

    delegate int Year (int number, DateTime date);
    delegate int NativeYear (int number, double date);

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

    static void Main ()
    {
        Swap swap = floats => new Floats { Values = new[] { floats.Values[1], floats.Values[0] } };
        var swapped = As<NativeSwap> (swap) (new NativeFloats { A = 1.5f, B = -2.5f });
        Console.WriteLine ("{0} {1}", swapped.A, swapped.B);

        SwapBehind swapBehind = value => { var made = new Behind { D = value.D + 1 }; made.V[0] = value.B; made.V[1] = value.A; return made; };
        var behind = new Behind { D = 10 };
        behind.V[0] = 1;
        behind.V[1] = 2;
        PlainBehind changed = As<SwapPlainBehind> (swapBehind) (behind);
        Console.WriteLine ("{0} {1} {2}", changed.D, changed.A, changed.B);
        GC.KeepAlive (swapBehind);

        Turn turn = four => { Array.Reverse (four.Values); return four; };
        NativeFour turned = As<NativeTurn> (turn) (new NativeFour { A = 1, B = 2, C = 3, D = 4 });
        Console.WriteLine ("{0} {1} {2} {3}", turned.A, turned.B, turned.C, turned.D);
        NativeTurn nativeTurn = four => new NativeFour { A = four.D, B = four.C, C = four.B, D = four.A };
        Console.WriteLine (string.Join (" ", As<Turn> (nativeTurn) (new Four { Values = new[] { 5f, 6f, 7f, 8f } }).Values));
        GC.KeepAlive (turn);
        GC.KeepAlive (nativeTurn);

        Negate negate = (count, flags) => { for (int i = 0; i < count; i++) flags[i] = !flags[i]; return flags.Length; };
        var words = new[] { 0, 5, 1 };
        Console.WriteLine ("{0} {1} {2} {3}", As<NativeNegate> (negate) (2, words), words[0], words[1], words[2]);

        Year year = (number, date) => number * date.Year + date.Hour;
        Console.WriteLine (As<NativeYear> (year) (10, 36526.5));
        GC.KeepAlive (year);

        // An exception waits until the native code returns, which sees a zero result.
        Change fail = delegate { throw new ApplicationException ("no result"); };
        try {
            As<NativeChange> (fail) (new NativeLarge (), 0);
            Console.WriteLine ("returned");
        } catch (ApplicationException e) {
            Console.WriteLine (e.Message);
        }
        GC.KeepAlive (swap);
        GC.KeepAlive (negate);
        GC.KeepAlive (fail);
    }
}
