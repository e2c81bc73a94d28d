// Each native form of a field and of an element, there and back: BSTRs, booleans of one, two and four bytes, handles,
// elements that are structs or builders, and objects of a derived class.
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Program
{
    class Handle : SafeHandle
    {
        public Handle () : base (IntPtr.Zero, false) { }
        public Handle (int value) : base (IntPtr.Zero, false) { SetHandle ((IntPtr) value); }
        public override bool IsInvalid { get { return false; } }
        protected override bool ReleaseHandle () { return true; }
    }

    struct Forms
    {
        public byte First;
        [MarshalAs (UnmanagedType.LPWStr)] public string Pointer;
#if NET
        // Windows' two bytes are for Windows alone there.
        [MarshalAs (UnmanagedType.I1)] public bool Variant;
#else
        [MarshalAs (UnmanagedType.VariantBool)] public bool Variant;
#endif
        [MarshalAs (UnmanagedType.U1)] public bool Short;
        public bool Long;
        public char Letter;
        [MarshalAs (UnmanagedType.ByValArray, SizeConst = 2)] public short[] Numbers;
        [MarshalAs (UnmanagedType.ByValArray, SizeConst = 3)] public bool[] Flags;
    }

    struct Basic { [MarshalAs (UnmanagedType.BStr)] public string Text; }

    struct WithHandle { public int Number; public Handle Handle; }

    struct Named { public bool Flag; public string Name; public double Number; }

    [StructLayout (LayoutKind.Sequential)] class Animal { public bool Flag; public string Name; }
    [StructLayout (LayoutKind.Sequential)] class Dog : Animal { public int Legs; }

    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Copy (IntPtr to, [In] Named[] from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Fill ([In, Out] Named[] to, IntPtr from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Copy (IntPtr to, StringBuilder[] from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Copy (IntPtr to, Animal from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Fill ([In, Out] Animal to, IntPtr from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr CopyAny (IntPtr to, [MarshalAs (UnmanagedType.AsAny)] object from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "memmove")]
    static extern IntPtr Copy (IntPtr to, ref Named from, IntPtr bytes);
    [DllImport ("libc", EntryPoint = "strcpy")]
    static extern IntPtr Write (StringBuilder to, string text);

    static void Show (string name, object value) { Console.WriteLine ("{0}: {1}", name, value); }

    static void Fields (IntPtr memory)
    {
        var forms = new Forms {
            First = 7, Pointer = "wide \u20ac", Variant = true, Short = true, Long = true, Letter = 'x',
            Numbers = new short[] { 1, -2 }, Flags = new[] { true, false, true }
        };
        Marshal.StructureToPtr (forms, memory, false);
        Show ("size", Marshal.SizeOf (typeof (Forms)));
        int at = (int) Marshal.OffsetOf (typeof (Forms), "Variant");
        Show ("booleans", Marshal.ReadInt16 (memory, at) + " " + Marshal.ReadByte (memory, at + 2) + " " + Marshal.ReadInt32 (memory, at + 4));
        var back = (Forms) Marshal.PtrToStructure (memory, typeof (Forms));
        Show ("back", back.First + " " + back.Pointer + " " + back.Variant + back.Short + back.Long + " " + back.Letter);
        Show ("arrays", back.Numbers[0] + " " + back.Numbers[1] + " " + string.Join (",", back.Flags));
        Marshal.DestroyStructure (memory, typeof (Forms));
        Marshal.StructureToPtr (new Basic { Text = "basic" }, memory, false);
        var basic = Marshal.ReadIntPtr (memory);
        Show ("BSTR", Marshal.ReadInt32 (basic, -4) + " " + Marshal.PtrToStringBSTR (basic));
        Marshal.DestroyStructure (memory, typeof (Basic));
    }

    static void Handles (IntPtr memory)
    {
#if NET
        try { Marshal.StructureToPtr (new WithHandle { Number = 3, Handle = new Handle (42) }, memory, false); }
        catch (InvalidOperationException e) { Show ("handle", e.Message); }
#else
        Marshal.StructureToPtr (new WithHandle { Number = 3, Handle = new Handle (42) }, memory, false);
        Show ("handle", Marshal.ReadIntPtr (memory, 8));
#endif
    }

    static void Elements (IntPtr memory)
    {
        var names = new[] { new Named { Flag = true, Name = "first", Number = 1.5 }, new Named { Name = "second", Number = 2 } };
        Copy (memory, names, (IntPtr) 48);
        Show ("elements", Marshal.ReadInt32 (memory) + " " + Marshal.ReadInt32 (memory, 24) + " " + BitConverter.Int64BitsToDouble (Marshal.ReadInt64 (memory, 40)));
        for (int i = 0; i < 2; i++)
            Marshal.StructureToPtr (new Named { Flag = i == 1, Name = "new " + i, Number = i }, memory + 24 * i, false);
        // Native code frees what it replaces in real programs; here the old strings are lost.
        Fill (names, memory, (IntPtr) 48);
        foreach (var named in names)
            Show ("filled", named.Flag + " " + named.Name + " " + named.Number);
        var builders = new[] { new StringBuilder ("abc", 20), null, new StringBuilder ("de") };
        try { Copy (memory, builders, (IntPtr) 32); }
        catch (MarshalDirectiveException e) { Show ("refused", e.Message); }
        Show ("builders", builders[0] + " " + (Marshal.ReadIntPtr (memory, 8) == IntPtr.Zero) + " " + builders[2] + " " + Marshal.ReadIntPtr (memory, 24));
        var one = names[0];
        Copy (memory, ref one, (IntPtr) 24);
        Show ("by reference", Marshal.ReadInt32 (memory) + " " + one.Name);
        var builder = new StringBuilder ("before", 16);
        Write (builder, "text");
        Show ("builder", builder.Length + " " + builder);
    }

    static void Objects (IntPtr memory)
    {
        var dog = new Dog { Flag = true, Name = "Rex", Legs = 4 };
        Copy (memory, dog, (IntPtr) 16);
        Show ("base class", Marshal.ReadInt32 (memory));
        Marshal.WriteInt32 (memory, 0);
        Marshal.WriteIntPtr (memory, 8, Marshal.StringToHGlobalAnsi ("Fido"));
        Fill (dog, memory, (IntPtr) 16);
        Show ("derived object", dog.Flag + " " + dog.Name + " " + dog.Legs);
        CopyAny (memory, dog, (IntPtr) 24);
        Show ("any object", Marshal.ReadInt32 (memory, 16));
    }

    static void Main ()
    {
        IntPtr memory = Marshal.AllocHGlobal (256);
        Fields (memory);
        Handles (memory);
        Elements (memory);
        Objects (memory);
        Marshal.FreeHGlobal (memory);
    }
}
