// P/Invoke of the C library: blittable and marshalled arguments, callbacks, structs, SafeHandles, errno, NativeLibrary, unmanaged memory.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

[StructLayout(LayoutKind.Sequential)] struct Division { public int Quotient, Remainder; }

sealed class Descriptor() : SafeHandle(-1, true)
{
    public override bool IsInvalid => handle == -1;
    protected override bool ReleaseHandle() { Console.WriteLine("close " + Native.close((int)handle)); return true; }
}

static unsafe class Native
{
    [DllImport("libc")] public static extern nuint strlen([MarshalAs(UnmanagedType.LPUTF8Str)] string text);
    [DllImport("libc", EntryPoint = "strlen")] public static extern nuint LengthOf(byte* text);
    [DllImport("libc")] public static extern Division div(int n, int by);
    [DllImport("libc", SetLastError = true)] public static extern Descriptor open(string path, int flags);
    [DllImport("libc")] public static extern int close(int descriptor);
    [DllImport("libc")] public static extern void qsort(int[] array, nuint count, nuint size, Comparer compare);
    [DllImport("libc", EntryPoint = "qsort")] public static extern void Sort(int* array, nuint count, nuint size, delegate* unmanaged<int*, int*, int> compare);
    [DllImport("libc")] public static extern int snprintf(StringBuilder buffer, nuint size, string format, int value);
    [DllImport("libm.so.6")] public static extern double pow(double x, double y);
    [DllImport("no-such-library")] public static extern void nothing();
    [DllImport("libc")] public static extern void no_such_function();
    public delegate int Comparer(in int a, in int b);
}

static unsafe class Test
{
    [UnmanagedCallersOnly]
    static int Descending(int* a, int* b) => (*b).CompareTo(*a);

    static void Main()
    {
        Console.WriteLine(Native.strlen("héllo"));
        fixed (byte* text = "utf8\0"u8) Console.WriteLine(Native.LengthOf(text));
        Division d = Native.div(17, 5);
        Console.WriteLine(d.Quotient + " " + d.Remainder + " " + Native.pow(2, 10));
        int[] array = [3, 1, 2];
        Native.qsort(array, 3, 4, static (in int a, in int b) => a.CompareTo(b));
        Console.WriteLine(string.Join(" ", array));
        fixed (int* first = array) Native.Sort(first, 3, 4, &Descending);
        Console.WriteLine(string.Join(" ", array));
        using (Descriptor opened = Native.open("/dev/null", 0)) Console.WriteLine(opened.IsInvalid);
        using (Descriptor missing = Native.open("/no/such/file", 0)) Console.WriteLine(missing.IsInvalid + " " + Marshal.GetLastPInvokeError() + " " + Marshal.GetLastWin32Error());
        var buffer = new StringBuilder(32);
        Native.snprintf(buffer, 32, "value %d", 42);
        Console.WriteLine(buffer);
        nint libc = NativeLibrary.Load("libc.so.6");
        var abs = (delegate* unmanaged<int, int>)NativeLibrary.GetExport(libc, "abs");
        Console.WriteLine(abs(-9) + " " + NativeLibrary.TryGetExport(libc, "nothing_like_it", out _));
        NativeLibrary.Free(libc);
        try { Native.nothing(); } catch (DllNotFoundException e) { Console.WriteLine(e.GetType().Name); }
        try { Native.no_such_function(); } catch (EntryPointNotFoundException e) { Console.WriteLine(e.GetType().Name); }
        NativeLibrary.SetDllImportResolver(typeof(Test).Assembly, (name, assembly, path) => 0);
        nint memory = Marshal.AllocHGlobal(64);
        Marshal.StructureToPtr(new Division { Quotient = 1, Remainder = 2 }, memory, false);
        Console.WriteLine(Marshal.ReadInt32(memory, 4) + " " + Marshal.PtrToStructure<Division>(memory).Quotient + " " + Marshal.SizeOf<Division>() + " " + Marshal.OffsetOf<Division>("Remainder"));
        Marshal.FreeHGlobal(memory);
        nint copied = Marshal.StringToCoTaskMemUTF8("copied ü");
        Console.WriteLine(Marshal.PtrToStringUTF8(copied));
        Marshal.FreeCoTaskMem(copied);
        var compare = Marshal.GetFunctionPointerForDelegate<Native.Comparer>((in int a, in int b) => a - b);
        int three = 3, five = 5;
        Console.WriteLine(Marshal.GetDelegateForFunctionPointer<Native.Comparer>(compare)(in five, in three));
    }
}
