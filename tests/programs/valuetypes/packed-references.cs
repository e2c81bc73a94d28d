// Packing does not move references off their word boundaries, and the collector finds them.
using System;
using System.Runtime.InteropServices;

[StructLayout(LayoutKind.Sequential, Pack = 1)]
struct Packed { public byte B; public string Text; public short S; public object Other; }

struct Holder { public byte B; public Packed Inner; }

class Program
{
    static void Main()
    {
        var array = new Packed[100];
        var holders = new Holder[100];
        for (int i = 0; i < 100; i++)
        {
            array[i] = new Packed { B = (byte)i, Text = "t" + i, S = (short)(-i), Other = i.ToString() };
            holders[i].Inner = array[i];
        }
        GC.Collect();
        for (int i = 0; i < 1000; i++) new byte[1000].ToString();
        GC.Collect();
        for (int i = 0; i < 100; i++)
            if (array[i].B != i || array[i].Text != "t" + i || array[i].S != -i || (string)array[i].Other != i.ToString()
                || holders[i].Inner.Text != "t" + i)
                throw new Exception("element " + i);
        Console.WriteLine("kept");
    }
}
