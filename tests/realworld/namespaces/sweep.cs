// What the programs of this folder share: checks by name, and printing that does not depend on the culture.
using System;
using System.Collections;
using System.Globalization;
using System.IO;
using System.Linq;

static class Sweep {
    /// Runs one check. What it throws is part of its output.
    public static void Check (string name, Action body)
    {
        Console.WriteLine ("[" + name + "]");
        try {
            body ();
        } catch (Exception e) {
            for (; e != null; e = e.InnerException)
                Print ("threw", e.GetType (), e.Message);
        }
        Console.Out.Flush ();
    }

    public static void Print (params object[] values)
    {
        Console.WriteLine (String.Join (" | ", values.Select (Text)));
    }

    static string Text (object value)
    {
        if (value == null)
            return "null";
        if (value is byte[])
            return BitConverter.ToString ((byte[]) value).Replace ("-", "").ToLowerInvariant ();
        if (value is string)
            return (string) value;
        if (value is DictionaryEntry)
            return Text (((DictionaryEntry) value).Key) + "=" + Text (((DictionaryEntry) value).Value);
        if (value is IEnumerable)
            return "{" + String.Join (", ", ((IEnumerable) value).Cast<object> ().Select (Text)) + "}";
        if (value is IFormattable)
            return ((IFormattable) value).ToString (null, CultureInfo.InvariantCulture);
        return value.ToString ();
    }

    /// An empty folder of the program's own.
    public static string Folder ()
    {
        string folder = Path.Combine (Directory.GetCurrentDirectory (), "sweep");
        if (Directory.Exists (folder))
            Directory.Delete (folder, true);
        Directory.CreateDirectory (folder);
        return folder;
    }

    /// Calls `condition` until it holds, for ten seconds at most.
    public static bool Wait (Func<bool> condition)
    {
        for (int i = 0; i < 1000; i++) {
            if (condition ())
                return true;
            System.Threading.Thread.Sleep (10);
        }
        return false;
    }
}
