// Checked arithmetic and conversions raise OverflowException exactly at the limits.
// mcs: -checked+
using System;

static class Program
{
    static void Try(string name, Func<object> f)
    {
        try
        {
            Console.WriteLine("{0} = {1}", name, f());
        }
        catch (OverflowException)
        {
            Console.WriteLine("{0} overflows", name);
        }
    }

    static void Main()
    {
        int imax = int.MaxValue, imin = int.MinValue, i1 = 1;
        long lmax = long.MaxValue, lmin = long.MinValue;
        uint umax = uint.MaxValue;
        ulong ulmax = ulong.MaxValue;
        Try("int.Max + 0", () => imax + 0);
        Try("int.Max + 1", () => imax + i1);
        Try("int.Min - 1", () => imin - i1);
        Try("int 46340^2", () => (i1 * 46340) * (i1 * 46340));
        Try("int 46341^2", () => (i1 * 46341) * (i1 * 46341));
        Try("-int.Min", () => -imin);
        Try("long.Max + 1", () => lmax + i1);
        Try("long.Min - 1", () => lmin - i1);
        Try("long 3037000499^2", () => (i1 * 3037000499L) * (i1 * 3037000499L));
        Try("long 3037000500^2", () => (i1 * 3037000500L) * (i1 * 3037000500L));
        Try("long.Min * -1", () => lmin * -i1);
        Try("uint.Max + 1", () => umax + (uint)i1);
        Try("0u - 1u", () => (uint)(i1 - 1) - (uint)i1);
        Try("uint 65535^2", () => ((uint)i1 * 65535u) * ((uint)i1 * 65535u));
        Try("uint 65536^2", () => ((uint)i1 * 65536u) * ((uint)i1 * 65536u));
        Try("ulong.Max + 1", () => ulmax + (ulong)i1);
        Try("ulong.Max * 2", () => ulmax * 2);
        Try("ulong 2^32 * (2^32 - 1)", () => (ulong)(4294967296L * i1) * (ulong)(4294967295L * i1));

        Try("(byte)255", () => (byte)(255 * i1));
        Try("(byte)256", () => (byte)(256 * i1));
        Try("(byte)-1", () => (byte)(-1 * i1));
        Try("(sbyte)-128", () => (sbyte)(-128 * i1));
        Try("(sbyte)128", () => (sbyte)(128 * i1));
        Try("(short)-32769", () => (short)(-32769 * i1));
        Try("(ushort)65535", () => (ushort)(65535 * i1));
        Try("(char)65536", () => (int)(char)(65536 * i1));
        Try("(int)2147483648L", () => (int)(2147483648L * i1));
        Try("(int)-2147483648L", () => (int)(-2147483648L * i1));
        Try("(uint)-1", () => (uint)(-1 * i1));
        Try("(uint)4294967296L", () => (uint)(4294967296L * i1));
        Try("(ulong)-1L", () => (ulong)(-1L * i1));
        Try("(long)ulong.Max", () => (long)ulmax);
        Try("(int)umax", () => (int)umax);

        Try("(int)2147483647.0", () => (int)(2147483647.0 * i1));
        Try("(int)2147483648.0", () => (int)(2147483648.0 * i1));
        Try("(int)-2147483648.9", () => (int)(-2147483648.9 * i1));
        Try("(int)-2147483649.0", () => (int)(-2147483649.0 * i1));
        Try("(int)NaN", () => (int)(double.NaN * i1));
        Try("(long)9.3e18", () => (long)(9.3e18 * i1));
        Try("(byte)255.9", () => (byte)(255.9 * i1));
        Try("(byte)-0.9", () => (byte)(-0.9 * i1));
        Try("(ulong)1.8e19", () => (ulong)(1.8e19 * i1));
        Try("(uint)1e10", () => (uint)(1e10 * i1));
        Try("unchecked int.Max + 1", () => unchecked(imax + i1));
    }
}
