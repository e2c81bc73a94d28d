// Writes normalization.bin: the tables of String.Normalize in the class library that runs this, as
// `crates/icall/src/text/normalization.rs` reads them.
//     mcs dump-normalization.cs -unsafe && mono dump-normalization.exe > normalization.bin
// Layout, little-endian: six u32 lengths in bytes, then the tables in the order of the out parameters of
// `Normalization.load_normalization_resource`.
using System;
using System.IO;
using System.Linq;
using System.Reflection;

class DumpNormalization
{
    const BindingFlags Statics = BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.Static;
    static readonly Type Normalization = typeof(string).Assembly.GetType("Mono.Globalization.Unicode.Normalization")
        ?? typeof(string).Assembly.GetType("System.Text.Normalization");
    static readonly Type Util = typeof(string).Assembly.GetType("Mono.Globalization.Unicode.NormalizationTableUtil");

    static int Count(string indexer)
    {
        var o = Util.GetField(indexer, Statics).GetValue(null);
        return (int)o.GetType().GetField("TotalCount", BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic).GetValue(o);
    }

    static unsafe void Main()
    {
        var tables = new object[6];
        Normalization.GetMethod("load_normalization_resource", Statics).Invoke(null, tables);
        int map = Count("Map"), helper = Count("Helper");
        var charMapIndex = (short*)(IntPtr)tables[2];
        var helperIndex = (short*)(IntPtr)tables[3];
        var mappedChars = (int*)(IntPtr)tables[1];
        // The table of characters has no length of its own: it ends with the last sequence that an index names.
        int last = 0;
        for (int i = 0; i < map; i++) last = Math.Max(last, charMapIndex[i]);
        for (int i = 0; i < helper; i++) last = Math.Max(last, helperIndex[i]);
        while (mappedChars[last] != 0) last++;
        var sizes = new[] { Count("Prop"), (last + 2) * 4, map * 2, helper * 2, Count("Composite") * 2, Count("Combining") };
        var output = new BinaryWriter(Console.OpenStandardOutput());
        foreach (var size in sizes) output.Write(size);
        for (int i = 0; i < sizes.Length; i++)
        {
            var from = (byte*)(IntPtr)tables[i];
            for (int at = 0; at < sizes[i]; at++) output.Write(from[at]);
        }
        output.Flush();
    }
}
