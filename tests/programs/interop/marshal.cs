// System.Runtime.InteropServices.Marshal: structures, strings and function pointers in unmanaged memory.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, CharSet = CharSet.Ansi)]
struct Record
{
    public byte Tag;
    public int Number;
    [MarshalAs(UnmanagedType.ByValTStr, SizeConst = 8)] public string Name;
    [MarshalAs(UnmanagedType.ByValArray, SizeConst = 3)] public short[] Values;
    [MarshalAs(UnmanagedType.Bool)] public bool Flag;
    public double Real;
}

[StructLayout(LayoutKind.Sequential)]
class Reference
{
    public int A;
    public long B;
}

static class Program
{
    [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
    delegate int Binary(int a, int b);

    static int offset = 1000;

    static void Main()
    {
        Record r = new Record { Tag = 7, Number = -5, Name = "short", Values = new short[] { 1, -2, 3 }, Flag = true, Real = 2.5 };
        int size = Marshal.SizeOf(typeof(Record));
        IntPtr memory = Marshal.AllocHGlobal(size);
        Marshal.StructureToPtr(r, memory, false);
        Console.WriteLine("{0} {1} {2} {3}", size, Marshal.OffsetOf(typeof(Record), "Name"), Marshal.OffsetOf(typeof(Record), "Values"), Marshal.OffsetOf(typeof(Record), "Real"));
        Console.WriteLine("{0} {1} {2} {3}", Marshal.ReadByte(memory), Marshal.ReadInt32(memory, 4), Marshal.PtrToStringAnsi(memory + 8), Marshal.ReadInt16(memory, 18));
        Record back = (Record)Marshal.PtrToStructure(memory, typeof(Record));
        Console.WriteLine("{0} {1} {2} {3} {4}", back.Name, back.Values[2], back.Flag, back.Real, back.Tag);
        Marshal.DestroyStructure(memory, typeof(Record));
        Marshal.FreeHGlobal(memory);

        IntPtr ansi = Marshal.StringToHGlobalAnsi("h\u00e9llo"), unicode = Marshal.StringToHGlobalUni("wide");
        Console.WriteLine("{0} {1}", Marshal.PtrToStringAnsi(ansi), Marshal.PtrToStringUni(unicode));
        Console.WriteLine("{0} {1}", Marshal.ReadInt16(unicode, 2), Marshal.PtrToStringUni(unicode, 2));
        Marshal.FreeHGlobal(ansi);
        Marshal.FreeHGlobal(unicode);

        IntPtr block = Marshal.AllocHGlobal(32);
        Marshal.Copy(new[] { 1, 2, 3, 4 }, 0, block, 4);
        int[] numbers = new int[4];
        Marshal.Copy(block, numbers, 1, 3);
        Console.WriteLine(string.Join(" ", numbers));
        Marshal.WriteInt64(block, 8, long.MinValue);
        Console.WriteLine("{0} {1}", Marshal.ReadInt64(block, 8), Marshal.ReadInt32(block, 12));
        block = Marshal.ReAllocHGlobal(block, (IntPtr)64);
        Reference reference = new Reference();
        Marshal.WriteInt64(block, 8, 99);
        Marshal.PtrToStructure(block, reference);
        Console.WriteLine("{0} {1}", reference.A, reference.B);
        Marshal.FreeHGlobal(block);

        Binary add = (a, b) => a + b + offset;
        IntPtr pointer = Marshal.GetFunctionPointerForDelegate(add);
        Binary again = (Binary)Marshal.GetDelegateForFunctionPointer(pointer, typeof(Binary));
        Console.WriteLine("{0} {1}", again(1, 2), pointer == Marshal.GetFunctionPointerForDelegate(add));
        GC.KeepAlive(add);
        Console.WriteLine("{0} {1}", IntPtr.Size, new IntPtr(5) + 3);
    }
}
