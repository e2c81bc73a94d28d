// Volatile fields that lie at addresses which are no multiples of their sizes. Processors refuse that to some of their
// atomic instructions.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Pack = 1)]
struct Packed
{
    public byte First;
    public volatile int Number;
    public volatile short Short;
    public volatile float Float;
    public volatile bool Flag;
}

[StructLayout(LayoutKind.Sequential, Pack = 1)]
class PackedObject
{
    public byte First;
    public Packed Packed;
    public volatile uint Last;
}

[StructLayout(LayoutKind.Explicit)]
struct Overlaid
{
    [FieldOffset(0)] public volatile int Low;
    [FieldOffset(3)] public volatile int Shifted;
}

class PackedVolatile
{
    static Packed fixedPlace;
    static Packed[] packed = new Packed[5];

    static void Fill(ref Packed place, int n)
    {
        place.Number = n;
        place.Short = (short)-n;
        place.Float = n / 4f;
        place.Flag = true;
    }

    static string Show(ref Packed place) { return place.Number + " " + place.Short + " " + place.Float + " " + place.Flag; }

    static void Main()
    {
        for (int round = 0; round < 300; round++)
        {
            Fill(ref fixedPlace, 1000 + round);
            for (int i = 0; i < packed.Length; i++) Fill(ref packed[i], i + round);
        }
        Console.WriteLine(Show(ref fixedPlace));
        for (int i = 0; i < packed.Length; i++) Console.WriteLine(Show(ref packed[i]));
        var made = new PackedObject();
        made.Last = 0x12345678;
        made.Packed.Number = -5;
        Console.WriteLine(made.Last.ToString("x") + " " + made.Packed.Number);
        var overlaid = new Overlaid();
        overlaid.Shifted = 0x01020304;
        Console.WriteLine(overlaid.Low.ToString("x") + " " + overlaid.Shifted.ToString("x"));
    }
}
