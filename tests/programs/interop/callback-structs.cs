// Native code passes structs by value to delegates and gets them back, also those whose fields change their form; a delegate type
// with the native form of the signature plays the native code.
// net: skip .NET frees the texts that the native caller owns
using System;
using System.Runtime.InteropServices;

static class Program
{
    // Two integer registers.
    struct Entry { public bool Flag; public string Name; }
    struct NativeEntry { public int Flag; public IntPtr Name; }

    // Memory.
    struct Large { public bool A, B; public string Name; [MarshalAs (UnmanagedType.LPWStr)] public string Wide; public double Real; }
    struct NativeLarge { public int A, B; public IntPtr Name, Wide; public double Real; }

    // One register.
    struct Flags { public bool A, B; }
    struct NativeFlags { public int A, B; }

    // Registers of both kinds.
    struct Mixed { public double Real; public bool Flag; }
    struct NativeMixed { public double Real; public int Flag; }

    // Memory, because a field is not aligned.
    [StructLayout (LayoutKind.Sequential, Pack = 1)] struct Packed { public byte Tag; public int Number; public string Name; }
    [StructLayout (LayoutKind.Sequential, Pack = 1)] struct NativePacked { public byte Tag; public int Number; public IntPtr Name; }

    struct Plain { public long A; public int B; }

    delegate string UseEntry (Entry entry, int number);
    delegate IntPtr UseNativeEntry (NativeEntry entry, int number);
    delegate Entry MakeEntry (Entry entry);
    delegate NativeEntry MakeNativeEntry (NativeEntry entry);
    delegate string UsePacked (Packed packed, int number);
    delegate IntPtr UseNativePacked (NativePacked packed, int number);
    delegate Mixed MakeMixed (Mixed mixed);
    delegate NativeMixed MakeNativeMixed (NativeMixed mixed);
    delegate Large Change (Large large, int number);
    delegate NativeLarge NativeChange (NativeLarge large, int number);
    delegate Flags Negate (Flags flags);
    delegate NativeFlags NativeNegate (NativeFlags flags);
    delegate double Many (byte a, float b, Mixed c, Plain d, short e, Entry f, Large g, double h, Plain i, bool j, float k, Mixed l, sbyte m, double n, double o, double p, double q, float r, Mixed s);
    delegate double NativeMany (byte a, float b, NativeMixed c, Plain d, short e, NativeEntry f, NativeLarge g, double h, Plain i, int j, float k, NativeMixed l, sbyte m, double n, double o, double p, double q, float r, NativeMixed s);

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

    static string Text (IntPtr native)
    {
        return Marshal.PtrToStringAnsi (native);
    }

    static void Main ()
    {
        IntPtr name = Marshal.StringToHGlobalAnsi ("name"), wide = Marshal.StringToHGlobalUni ("wide");

        UseEntry use = (entry, number) => entry.Flag + " " + entry.Name + " " + number;
        Console.WriteLine (Text (As<UseNativeEntry> (use) (new NativeEntry { Flag = 7, Name = name }, -3)));
        Console.WriteLine (Text (As<UseNativeEntry> (use) (new NativeEntry (), 3)));

        MakeEntry make = entry => new Entry { Flag = !entry.Flag, Name = entry.Name + "?" };
        var made = As<MakeNativeEntry> (make) (new NativeEntry { Name = name });
        Console.WriteLine ("{0} {1}", made.Flag, Text (made.Name));
        MakeNativeEntry makeNative = entry => new NativeEntry { Flag = -entry.Flag, Name = entry.Name };
        Entry madeEntry = As<MakeEntry> (makeNative) (new Entry { Flag = true, Name = "back" });
        Console.WriteLine ("{0} {1}", madeEntry.Flag, madeEntry.Name);

        MakeMixed makeMixed = mixed => new Mixed { Real = -mixed.Real, Flag = !mixed.Flag };
        NativeMixed madeMixed = As<MakeNativeMixed> (makeMixed) (new NativeMixed { Real = 1.5 });
        Console.WriteLine ("{0} {1}", madeMixed.Real, madeMixed.Flag);
        MakeNativeMixed makeNativeMixed = mixed => new NativeMixed { Real = 2 * mixed.Real, Flag = 3 * mixed.Flag };
        Mixed otherMixed = As<MakeMixed> (makeNativeMixed) (new Mixed { Real = 2.5, Flag = true });
        Console.WriteLine ("{0} {1}", otherMixed.Real, otherMixed.Flag);

        UsePacked usePacked = (packed, number) => packed.Tag + " " + packed.Number + " " + packed.Name + " " + number;
        Console.WriteLine (Text (As<UseNativePacked> (usePacked) (new NativePacked { Tag = 1, Number = 2, Name = name }, 3)));
        UseNativePacked useNativePacked = (packed, number) => Marshal.StringToHGlobalAnsi (packed.Tag + " " + packed.Number + " " + Text (packed.Name) + " " + number);
        Console.WriteLine (As<UsePacked> (useNativePacked) (new Packed { Tag = 4, Number = 5, Name = "six" }, 7));

        Change change = (large, number) => {
            GC.Collect ();
            return new Large { A = !large.A, B = !large.B, Name = large.Name + number, Wide = large.Wide + "!", Real = large.Real / 2 };
        };
        var changed = As<NativeChange> (change) (new NativeLarge { A = 1, Name = name, Wide = wide, Real = 5 }, 42);
        Console.WriteLine ("{0} {1} {2} {3} {4}", changed.A, changed.B, Text (changed.Name), Marshal.PtrToStringUni (changed.Wide), changed.Real);
        changed = As<NativeChange> (change) (new NativeLarge { B = 1, Wide = wide }, 1);
        Console.WriteLine ("{0} {1} {2} {3} {4}", changed.A, changed.B, Text (changed.Name), Marshal.PtrToStringUni (changed.Wide), changed.Real);

        Negate negate = flags => new Flags { A = !flags.A, B = !flags.B };
        var negated = As<NativeNegate> (negate) (new NativeFlags { A = 0, B = 9 });
        Console.WriteLine ("{0} {1}", negated.A, negated.B);

        Many many = (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s) => {
            Console.WriteLine ("{0} {1} {2}/{3} {4}/{5} {6} {7}/{8}", a, b, c.Real, c.Flag, d.A, d.B, e, f.Flag, f.Name);
            Console.WriteLine ("{0}/{1}/{2} {3} {4}/{5} {6} {7} {8}/{9} {10}", g.Name, g.Wide, g.Real, h, i.A, i.B, j, k, l.Real, l.Flag, m);
            return n + 10 * o + 100 * p + 1000 * q + 10000 * r + 100000 * s.Real;
        };
        Console.WriteLine (As<NativeMany> (many) (
            200, 0.5f, new NativeMixed { Real = 1.25, Flag = 1 }, new Plain { A = -7, B = 8 }, -300,
            new NativeEntry { Flag = 1, Name = name }, new NativeLarge { Name = name, Wide = wide, Real = 6.5 }, 7.5,
            new Plain { A = 1L << 40, B = -1 }, 1, -0.25f, new NativeMixed { Real = 2.25 }, -100, 1, 2, 3, 4, 5, new NativeMixed { Real = 6 }));

        Marshal.FreeHGlobal (name);
        Marshal.FreeHGlobal (wide);
        GC.KeepAlive (use); GC.KeepAlive (makeMixed); GC.KeepAlive (makeNativeMixed); GC.KeepAlive (usePacked); GC.KeepAlive (useNativePacked); GC.KeepAlive (make); GC.KeepAlive (makeNative); GC.KeepAlive (change); GC.KeepAlive (negate); GC.KeepAlive (many);
    }
}
