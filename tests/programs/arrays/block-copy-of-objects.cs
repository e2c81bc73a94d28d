// System.Buffer takes arrays of numbers only: bytes written over references would be forged ones.
using System;

static class BlockCopyOfObjects
{
    enum Small : byte { A = 7 }

    static void Try(string what, Func<object> work)
    {
        try
        {
            Console.WriteLine("{0}: {1}", what, work());
        }
        catch (Exception e)
        {
            Console.WriteLine("{0}: {1}", what, e.GetType());
        }
    }

    static object Copy(Array source, Array destination, int count)
    {
        Buffer.BlockCopy(source, 0, destination, 0, count);
        return destination.GetValue(0) ?? "null";
    }

    static void Main()
    {
        Try("to strings", () => Copy(new int[2], new string[1], 8));
        Try("from objects", () => Copy(new object[] { "x" }, new long[1], 8));
        Try("of decimals", () => Copy(new decimal[] { 1 }, new decimal[1], 16));
        Try("length of strings", () => Buffer.ByteLength(new string[3]));
        Try("byte of an object array", () => Buffer.GetByte(new object[3], 0));
        Try("byte into a struct array", () => { Buffer.SetByte(new DateTime[1], 0, 1); return "written"; });
        Try("numbers", () => Copy(new ushort[] { 0x0102, 0x0304 }, new uint[1], 4));
        Try("pointers", () => Copy(new[] { (IntPtr)5 }, new long[1], 8));
        Try("two dimensions", () => Buffer.ByteLength(new double[2, 3]));
        Try("length of booleans and characters", () => Buffer.ByteLength(new bool[3]) + Buffer.ByteLength(new char[3]));
        Try("too many", () => Copy(new byte[4], new byte[3], 4));
    }
}
