using System;
using System.Runtime.InteropServices;
using System.Threading;

public static class Component
{
    public delegate int Named([MarshalAs(UnmanagedType.LPUTF8Str)] string text);

    static int calls;

    public static int Hello(IntPtr argument, int size)
    {
        var kept = new byte[1000][];
        for (int i = 0; i < 20000; i++)
            kept[i % kept.Length] = new byte[100];
        GC.Collect();
        try { throw new InvalidOperationException(); } catch (InvalidOperationException) { calls++; }
        return Marshal.ReadInt32(argument) + size;
    }

    [UnmanagedCallersOnly]
    public static int Add(int a, int b) => a + b;

    public static int Length(string text) => text.Length;
}
