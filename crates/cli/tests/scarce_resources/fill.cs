// Fills the heap until it is full, then says so.
using System;
using System.Collections.Generic;

class Fill {
    static List<byte[]> kept = new List<byte[]> ();

    static void Run () {
        try {
            while (true)
                kept.Add (new byte[100000]);
        } catch (OutOfMemoryException) {
        }
    }

    static void Main () {
        Run ();
        int count = kept.Count;
        kept = null;
        Console.WriteLine (count > 50 ? "full" : "full after " + count);
    }
}
