// Fields for COM objects take their place in a native structure, and can only be null.
using System;
using System.Runtime.InteropServices;

[StructLayout (LayoutKind.Sequential)]
class Holder {
    public int before = 1;
    [MarshalAs (UnmanagedType.Interface)] public object single;
    public int after = 2;
}

static class Program {
    static void Main ()
    {
        Console.WriteLine ("{0} {1}", Marshal.SizeOf (typeof (Holder)), Marshal.OffsetOf (typeof (Holder), "after"));
        var memory = Marshal.AllocHGlobal (24);
        Marshal.StructureToPtr (new Holder (), memory, false);
        Console.WriteLine ("{0} {1} {2}", Marshal.ReadInt32 (memory), Marshal.ReadInt64 (memory, 8), Marshal.ReadInt32 (memory, 16));
        var back = (Holder) Marshal.PtrToStructure (memory, typeof (Holder));
        Console.WriteLine ("{0} {1}", back.single == null, back.after);
        try {
            Marshal.StructureToPtr (new Holder { single = new object () }, memory, false);
        } catch (MarshalDirectiveException e) {
            Console.WriteLine (e.Message);
        }
        Marshal.FreeHGlobal (memory);
    }
}
