// A method's name is one string, which serialization writes once.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.Serialization.Formatters.Binary;

static class Program {
    public static int Twice (int x) { return 2 * x; }

    static void Main ()
    {
        var method = typeof (Program).GetMethod ("Twice");
        Console.WriteLine ("{0} {1}", method.Name, ReferenceEquals (method.Name, method.Name));
        var constructor = typeof (List<int>).GetConstructor (new[] { typeof (int) });
        Console.WriteLine ("{0} {1}", constructor.Name, ReferenceEquals (constructor.Name, constructor.Name));
        Console.WriteLine (typeof (Dictionary<int, int>).TypeInitializer == null);
#if !NET
        var stream = new MemoryStream ();
        new BinaryFormatter ().Serialize (stream, (Func<int, int>) Twice);
        string text = System.Text.Encoding.ASCII.GetString (stream.ToArray ());
        Console.WriteLine ("{0} alone", text.Split (new[] { "\u0005Twice" }, StringSplitOptions.None).Length - 1);
        stream.Position = 0;
        Console.WriteLine (((Func<int, int>) new BinaryFormatter ().Deserialize (stream)) (21));
#endif
    }
}
