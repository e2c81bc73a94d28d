// Strings in place (ByValTStr): an ANSI one always ends within its field, a UTF-16 one may fill it. An array that is not in place (no
// ByValArray) goes to native memory, but cannot come back: nobody knows its length.
using System;
using System.Runtime.InteropServices;

static class Program
{
    [StructLayout (LayoutKind.Sequential, CharSet = CharSet.Ansi)]
    struct Ansi
    {
        [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 4)] public string Text;
        public int Number;
    }

    [StructLayout (LayoutKind.Sequential, CharSet = CharSet.Unicode)]
    struct Wide
    {
        [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 4)] public string Text;
        public int Number;
    }

    [StructLayout (LayoutKind.Sequential)]
    struct Single
    {
        [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 1)] public string Text;
    }

    struct Loose
    {
        public int[] Numbers;
    }

    static string Bytes (IntPtr memory, int count)
    {
        var bytes = new byte[count];
        Marshal.Copy (memory, bytes, 0, count);
        return BitConverter.ToString (bytes);
    }

    static void Filled (IntPtr memory, int count)
    {
        for (int i = 0; i < count; i++)
            Marshal.WriteByte (memory, i, 0x58);
    }

    static void Main ()
    {
        Console.WriteLine ("{0} {1} {2}", Marshal.SizeOf (typeof (Ansi)), Marshal.SizeOf (typeof (Wide)), Marshal.SizeOf (typeof (Single)));
        IntPtr memory = Marshal.AllocHGlobal (32);

        foreach (string text in new[] { null, "", "ab", "abc", "abcd", "abcdefgh" }) {
            Filled (memory, 32);
            Marshal.StructureToPtr (new Ansi { Text = text, Number = -1 }, memory, false);
            string bytes = Bytes (memory, 8);
            var ansi = (Ansi) Marshal.PtrToStructure (memory, typeof (Ansi));
            Marshal.WriteInt16 (memory, 6, 0);
            Marshal.StructureToPtr (new Wide { Text = text, Number = -1 }, memory, false);
            var wide = (Wide) Marshal.PtrToStructure (memory, typeof (Wide));
            Console.WriteLine ("{0} '{1}' {2} | {3:x4} '{4}' {5}", bytes, ansi.Text, ansi.Number, Marshal.ReadInt16 (memory, 6), wide.Text, wide.Number);
        }

        // No terminator anywhere.
        Filled (memory, 32);
        var full = (Ansi) Marshal.PtrToStructure (memory, typeof (Ansi));
        Console.WriteLine ("'{0}' {1:x}", full.Text, full.Number);
        for (int i = 0; i < 6; i++)
            Marshal.WriteInt16 (memory, 2 * i, (short) ('A' + i));
        var fullWide = (Wide) Marshal.PtrToStructure (memory, typeof (Wide));
        Console.WriteLine ("'{0}' {1:x}", fullWide.Text, fullWide.Number);
        var single = (Single) Marshal.PtrToStructure (memory, typeof (Single));
        Console.WriteLine ("'{0}'", single.Text);

#if !NET
        Marshal.StructureToPtr (new Loose (), memory, false);
        Console.WriteLine ("{0} {1}", Marshal.SizeOf (typeof (Loose)), Marshal.ReadIntPtr (memory));
        try {
            Marshal.PtrToStructure (memory, typeof (Loose));
        } catch (MarshalDirectiveException) {
            Console.WriteLine ("no length");
        }
#endif
        Marshal.FreeHGlobal (memory);
    }
}
