using System;
using System.Runtime.InteropServices;

// Marshal: memory, strings, structures, function pointers, error codes; NativeLibrary.
class Marshalling
{
    [StructLayout(LayoutKind.Sequential)] struct Plain { public int A; public double B; public byte C; }
    [StructLayout(LayoutKind.Sequential, CharSet = CharSet.Ansi)]
    struct Texts { public int N; [MarshalAs(UnmanagedType.LPStr)] public string S; [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 8)] public string Fixed; [MarshalAs(UnmanagedType.Bool)] public bool Flag; }
    [StructLayout(LayoutKind.Sequential)] class Formatted { public int X = 1; public short Y = 2; }
    delegate int Compare(IntPtr a, IntPtr b);
    [DllImport("libc", SetLastError = true)] static extern int close(int descriptor);
    [DllImport("libc")] static extern void qsort(int[] values, nint count, nint size, Compare compare);
    [DllImport("libc", EntryPoint = "strlen")] static extern nint Length(string text);
    [DllImport("libnothere")] static extern void nothing();

    static unsafe void Main()
    {
        Console.WriteLine($"{Marshal.SizeOf<Plain>()} {Marshal.SizeOf(typeof(Texts))} {Marshal.SizeOf(new Formatted())} {Marshal.OffsetOf<Plain>("B")} {Marshal.OffsetOf(typeof(Texts), "Flag")}");
        IntPtr memory = Marshal.AllocHGlobal(64);
        Marshal.StructureToPtr(new Plain { A = 1, B = 2.5, C = 3 }, memory, false);
        var plain = Marshal.PtrToStructure<Plain>(memory);
        Console.WriteLine($"{plain.A} {plain.B} {plain.C} {Marshal.ReadInt32(memory)}");
        Marshal.StructureToPtr(new Texts { N = 7, S = "hällo", Fixed = "fixed", Flag = true }, memory, false);
        var texts = (Texts)Marshal.PtrToStructure(memory, typeof(Texts))!;
        Console.WriteLine($"{texts.N} {texts.S} {texts.Fixed} {texts.Flag}");
        Marshal.DestroyStructure<Texts>(memory);
        Console.WriteLine(Marshal.ReadIntPtr(memory, 8) == IntPtr.Zero);
        Marshal.StructureToPtr(new Formatted { X = 5 }, memory, false);
        var formatted = new Formatted();
        Marshal.PtrToStructure(memory, formatted);
        Console.WriteLine($"{formatted.X} {formatted.Y}");
        try { Marshal.PtrToStructure(memory, (object)default(Plain)); } catch (ArgumentException e) { Console.WriteLine(e.ParamName); }
        memory = Marshal.ReAllocHGlobal(memory, 128);
        Marshal.FreeHGlobal(memory);
        IntPtr utf8 = Marshal.StringToCoTaskMemUTF8("äö");
        Console.WriteLine($"{Marshal.PtrToStringUTF8(utf8)} {Marshal.ReadByte(utf8)}");
        Marshal.FreeCoTaskMem(utf8);
        IntPtr wide = Marshal.StringToHGlobalUni("wide");
        Console.WriteLine(Marshal.PtrToStringUni(wide, 2));
        Marshal.FreeHGlobal(wide);
        Console.WriteLine($"{close(-1)} {Marshal.GetLastPInvokeError()} {Marshal.GetLastWin32Error()} {Marshal.GetLastPInvokeErrorMessage()}");
        var values = new[] { 3, 1, 2 };
        qsort(values, 3, 4, (a, b) => Marshal.ReadInt32(a) - Marshal.ReadInt32(b));
        Console.WriteLine(string.Join(",", values));
        Console.WriteLine(Length("12345"));
        Compare keep = (a, b) => (int)a + (int)b;
        IntPtr pointer = Marshal.GetFunctionPointerForDelegate(keep);
        Console.WriteLine($"{((delegate* unmanaged<IntPtr, IntPtr, int>)pointer)(3, 4)} {Marshal.GetDelegateForFunctionPointer<Compare>(pointer)(5, 6)}");
        GC.KeepAlive(keep);
        IntPtr libc = NativeLibrary.Load("libc.so.6");
        IntPtr abs = NativeLibrary.GetExport(libc, "abs");
        Console.WriteLine($"{((delegate* unmanaged<int, int>)abs)(-5)} {NativeLibrary.TryGetExport(libc, "no_such_thing", out _)} {NativeLibrary.TryLoad("libnothere.so", out _)}");
        try { nothing(); } catch (DllNotFoundException e) { Console.WriteLine(e.Message.Split('\n')[0].Length > 10); }
        try { NativeLibrary.GetExport(libc, "no_such_thing"); } catch (EntryPointNotFoundException e) { Console.WriteLine(e.GetType()); }
        Console.WriteLine(Marshal.GetExceptionForHR(unchecked((int)0x80070057))!.GetType());
        Console.WriteLine(Marshal.GetHRForException(new InvalidOperationException()) == unchecked((int)0x80131509));
        int last = 5;
        Marshal.SetLastPInvokeError(last);
        Console.WriteLine(Marshal.GetLastPInvokeError());
        var span = stackalloc byte[4];
        Marshal.Copy(new byte[] { 1, 2, 3, 4 }, 0, (IntPtr)span, 4);
        Console.WriteLine(span[3]);
    }
}
