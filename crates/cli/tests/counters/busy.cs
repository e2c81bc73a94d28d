// Collects, throws and waits for locks until its standard input ends.
using System;
using System.Threading;

static class Program {
    static void Main () {
        var gate = new object ();
        for (int i = 0; i < 2; i++)
            new Thread (() => { while (true) lock (gate) Thread.Sleep (2); }) { IsBackground = true }.Start ();
        new Thread (() => {
            while (true) {
                try { throw new Exception (); } catch { }
                GC.KeepAlive (new byte [100000]);
                GC.Collect ();
                Thread.Sleep (1);
            }
        }) { IsBackground = true }.Start ();
        Console.WriteLine ("ready");
        Console.In.ReadToEnd ();
    }
}
