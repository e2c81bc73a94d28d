// Explicit offsets: a reference lies on a word of its own, or shares it with other references, also inside of structs.
using System;
using System.Runtime.InteropServices;

struct Pair { public object a; public int b; }
struct Ints { public long a, b; }

[StructLayout(LayoutKind.Explicit)]
struct RefAndInt { [FieldOffset(0)] public object o; [FieldOffset(4)] public int i; }

[StructLayout(LayoutKind.Explicit)]
struct RefAndRef { [FieldOffset(0)] public object o; [FieldOffset(0)] public string i; }

[StructLayout(LayoutKind.Explicit)]
struct PairAndRef { [FieldOffset(0)] public Pair p; [FieldOffset(8)] public object o; }

[StructLayout(LayoutKind.Explicit)]
struct PairAndPair { [FieldOffset(0)] public Pair p; [FieldOffset(0)] public Pair q; }

[StructLayout(LayoutKind.Explicit)]
struct PairAndItsRef { [FieldOffset(0)] public Pair p; [FieldOffset(0)] public object o; }

[StructLayout(LayoutKind.Explicit)]
struct PairBesideRef { [FieldOffset(0)] public Pair p; [FieldOffset(16)] public object o; }

[StructLayout(LayoutKind.Explicit)]
struct IntsAndRef { [FieldOffset(0)] public Ints p; [FieldOffset(8)] public object o; }

[StructLayout(LayoutKind.Explicit)]
struct Unaligned { [FieldOffset(1)] public object o; }

[StructLayout(LayoutKind.Explicit)]
struct UnalignedPair { [FieldOffset(4)] public Pair o; }

[StructLayout(LayoutKind.Explicit)]
class InClass { [FieldOffset(0)] public object o; [FieldOffset(0)] public int i; }

class Program
{
    static void Main()
    {
        var names = "RefAndInt RefAndRef PairAndRef PairAndPair PairAndItsRef PairBesideRef IntsAndRef Unaligned UnalignedPair InClass";
        foreach (var name in names.Split(' '))
        {
            try
            {
                Activator.CreateInstance(Type.GetType(name, true));
                Console.WriteLine(name + ": loaded");
            }
            catch (TypeLoadException)
            {
                Console.WriteLine(name + ": TypeLoadException");
            }
        }
    }
}
