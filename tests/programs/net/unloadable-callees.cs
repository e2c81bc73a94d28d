// What a small callee cannot load fails when it is called, in the caller's try, though it would be inlined.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Explicit)]
struct Unaligned
{
    [FieldOffset(0)] public short First;
    [FieldOffset(2)] public object Reference;
}

static class Program
{
    static Unaligned Make() => new Unaligned();
    static void Take(Unaligned value) => Console.WriteLine(value);
    static void Callee() => Take(Make());

    static void Main()
    {
        Console.WriteLine("starts");
        try
        {
            Callee();
        }
        catch (TypeLoadException)
        {
            Console.WriteLine("cannot be loaded");
        }
        Action again = () => Callee();
        try
        {
            again();
        }
        catch (TypeLoadException)
        {
            Console.WriteLine("cannot be loaded");
        }
    }
}
