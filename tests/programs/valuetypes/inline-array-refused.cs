// mcs: -unsafe
// Sizes of inline arrays, and those that do not load: a length below one, no field or several, an explicit layout or a
// size of its own, more than a mebibyte. As in .NET 9.
// net: skip C# 12 refuses the types itself
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

#pragma warning disable 169
[InlineArray(4)] struct Ints { public int e; }
[InlineArray(3)] struct Strings { public string e; }
[InlineArray(3)] struct Of<T> { public T e; }
[InlineArray(3)] struct Bytes { public byte e; }
[InlineArray(2)] struct Nested { public Strings e; }
struct Odd { public int a; public byte b; }
[InlineArray(3)] struct Odds { public Odd e; }
struct Outer { public byte b; public Ints i; public Strings s; public Bytes c; }
[InlineArray(2)] struct WithStatic { static int a; public int b; }
[InlineArray(2), StructLayout(LayoutKind.Auto)] struct Auto { public long b; }
[InlineArray(2), StructLayout(LayoutKind.Sequential, Pack = 1)] struct Packed { public long b; }
[InlineArray(2), StructLayout(LayoutKind.Sequential, Pack = 1)] struct PackedReferences { public object b; }
[InlineArray(2)] unsafe struct Pointers { public int* e; }
[InlineArray(2)] struct Fixed { public unsafe fixed int e[3]; }
[InlineArray(1 << 20)] struct Mebibyte { public byte e; }

[InlineArray(0)] struct Zero { public int e; }
[InlineArray(-1)] struct Negative { public int e; }
[InlineArray(2)] struct TwoFields { public int a, b; }
[InlineArray(2)] struct NoField { }
[InlineArray(2)] struct StaticOnly { static int a; }
[InlineArray(2), StructLayout(LayoutKind.Explicit)] struct Explicit { [FieldOffset(0)] public int b; }
[InlineArray(2), StructLayout(LayoutKind.Sequential, Size = 64)] struct Sized { public int b; }
[InlineArray(2), StructLayout(LayoutKind.Sequential, Size = 4)] struct SizedAsOne { public int b; }
[InlineArray((1 << 20) + 1)] struct OverMebibyte { public byte e; }
[InlineArray((1 << 17) + 1)] struct References { public object e; }
[InlineArray(int.MaxValue)] struct Longest { public byte e; }
[InlineArray(0x40000001)] struct Overflowing { public int e; }
[InlineArray(2)] class Class { public int a; }
[InlineArray(0)] class ClassOfZero { public int a; public int b; }

static class Program
{
    static void Try(string name, Func<int> size)
    {
        try
        {
            Console.WriteLine($"{name}: {size()}");
        }
        catch (Exception e)
        {
            Console.WriteLine($"{name}: {e.GetType().Name}");
        }
    }

    static void Main()
    {
        Try("Ints", () => Inline.SizeOf<Ints>());
        Try("Strings", () => Inline.SizeOf<Strings>());
        Try("Of<short>", () => Inline.SizeOf<Of<short>>());
        Try("Of<string>", () => Inline.SizeOf<Of<string>>());
        Try("Of<Odd>", () => Inline.SizeOf<Of<Odd>>());
        Try("Bytes", () => Inline.SizeOf<Bytes>());
        Try("Nested", () => Inline.SizeOf<Nested>());
        Try("Odds", () => Inline.SizeOf<Odds>());
        Try("Outer", () => Inline.SizeOf<Outer>());
        Try("WithStatic", () => Inline.SizeOf<WithStatic>());
        Try("Auto", () => Inline.SizeOf<Auto>());
        Try("Packed", () => Inline.SizeOf<Packed>());
        Try("PackedReferences", () => Inline.SizeOf<PackedReferences>());
        Try("Pointers", () => Inline.SizeOf<Pointers>());
        Try("Fixed", () => Inline.SizeOf<Fixed>());
        Try("Mebibyte", () => Inline.SizeOf<Mebibyte>());
        Try("Zero", () => Inline.SizeOf<Zero>());
        Try("Negative", () => Inline.SizeOf<Negative>());
        Try("TwoFields", () => Inline.SizeOf<TwoFields>());
        Try("NoField", () => Inline.SizeOf<NoField>());
        Try("StaticOnly", () => Inline.SizeOf<StaticOnly>());
        Try("Explicit", () => Inline.SizeOf<Explicit>());
        Try("Sized", () => Inline.SizeOf<Sized>());
        Try("SizedAsOne", () => Inline.SizeOf<SizedAsOne>());
        Try("OverMebibyte", () => Inline.SizeOf<OverMebibyte>());
        Try("References", () => Inline.SizeOf<References>());
        Try("Longest", () => Inline.SizeOf<Longest>());
        Try("Overflowing", () => Inline.SizeOf<Overflowing>());
        Try("Class", () => new Class().a);
        Try("ClassOfZero", () => new ClassOfZero().a);
    }
}
