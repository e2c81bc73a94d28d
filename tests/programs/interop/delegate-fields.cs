// A field of type Delegate is a function pointer: the object knows the signature that the field does not.
using System;
using System.Runtime.InteropServices;

static class Program
{
    delegate int Twice (int number);
    delegate long TwiceLong (int number);

    struct Typed
    {
        public byte Tag;
        public Twice Function;
    }

    struct Untyped
    {
        public byte Tag;
        public Delegate Function;
        public MulticastDelegate Other;
    }

    static void Main ()
    {
        Console.WriteLine ("{0} {1}", Marshal.SizeOf (typeof (Typed)), Marshal.SizeOf (typeof (Untyped)));
        Console.WriteLine ("{0} {1}", Marshal.OffsetOf (typeof (Untyped), "Function"), Marshal.OffsetOf (typeof (Untyped), "Other"));
        IntPtr memory = Marshal.AllocHGlobal (24);
        Twice twice = number => 2 * number;
        TwiceLong twiceLong = number => 2L * number;
        Marshal.StructureToPtr (new Untyped { Tag = 5, Function = twice, Other = twiceLong }, memory, false);
        Console.WriteLine (Marshal.ReadIntPtr (memory, 8) == Marshal.GetFunctionPointerForDelegate (twice));
        Console.WriteLine (Marshal.ReadIntPtr (memory, 16) == Marshal.GetFunctionPointerForDelegate (twiceLong));
        var typed = (Typed) Marshal.PtrToStructure (memory, typeof (Typed));
        Console.WriteLine ("{0} {1}", typed.Tag, typed.Function (21));

        Marshal.StructureToPtr (new Untyped { Tag = 6 }, memory, false);
        Console.WriteLine ("{0} {1}", Marshal.ReadIntPtr (memory, 8), Marshal.ReadIntPtr (memory, 16));
        Marshal.FreeHGlobal (memory);
        GC.KeepAlive (twice);
        GC.KeepAlive (twiceLong);
    }
}
