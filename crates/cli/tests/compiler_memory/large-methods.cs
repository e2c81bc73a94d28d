// Eight threads compile a method of some 8,000 instructions each; prints how many MiB of memory beside the heap are resident more than before.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection.Emit;
using System.Threading;

class Program
{
    const ulong HeapStart = 0x020000000000, HeapEnd = 0x100000000000;

    static long ResidentBesideHeapKib ()
    {
        long sum = 0;
        bool isCounted = false;
        foreach (var line in File.ReadAllLines ("/proc/self/smaps")) {
            int dash = line.IndexOf ('-');
            ulong start;
            if (dash > 0 && ulong.TryParse (line.Substring (0, dash), NumberStyles.HexNumber, null, out start))
                isCounted = (start < HeapStart || start >= HeapEnd) && line.IndexOf ('/') < 0;
            else if (isCounted && line.StartsWith ("Rss:"))
                sum += long.Parse (line.Substring (4).Replace ("kB", "").Trim ());
        }
        return sum;
    }

    static Func<int, int> Make (int steps)
    {
        var method = new DynamicMethod ("large", typeof (int), new [] { typeof (int) }, typeof (Program));
        var il = method.GetILGenerator ();
        var locals = Enumerable.Range (0, 50).Select (n => il.DeclareLocal (typeof (int))).ToArray ();
        for (int n = 0; n < steps; n++) {
            var end = il.DefineLabel ();
            il.Emit (OpCodes.Ldloc, locals [n % 50]);
            il.Emit (OpCodes.Ldc_I4, n);
            il.Emit (OpCodes.Bgt, end);
            il.Emit (OpCodes.Ldloc, locals [n * 7 % 50]);
            il.Emit (OpCodes.Ldarg_0);
            il.Emit (OpCodes.Add);
            il.Emit (OpCodes.Stloc, locals [n % 50]);
            il.MarkLabel (end);
        }
        il.Emit (OpCodes.Ldloc, locals [3]);
        il.Emit (OpCodes.Ret);
        return (Func<int, int>) method.CreateDelegate (typeof (Func<int, int>));
    }

    static void Main ()
    {
        Make (20) (1);
        long before = ResidentBesideHeapKib ();
        var start = new Barrier (8);
        var threads = new List<Thread> ();
        for (int n = 0; n < 8; n++) {
            var thread = new Thread (() => { var method = Make (1500); start.SignalAndWait (); method (2); });
            threads.Add (thread);
            thread.Start ();
        }
        threads.ForEach (thread => thread.Join ());
        Console.WriteLine ((ResidentBesideHeapKib () - before) / 1024);
    }
}
