// Threads that end leave nothing behind of their thread-statics: a map of the references in them was made for each
// thread and type.
using System;
using System.IO;
using System.Linq;
using System.Threading;

static class Holder<T>
{
    #pragma warning disable 414
    [ThreadStatic] static object value;
    [ThreadStatic] static string text;

    public static void Set ()
    {
        value = typeof (T);
        text = "";
    }
}

static class Program
{
    static void Set<T> (int depth)
    {
        Holder<T>.Set ();
        if (depth > 0)
            Set<T[]> (depth - 1);
    }

    static void Touch ()
    {
        Set<int> (60);
    }

    static void Run (int count)
    {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread (Touch);
            thread.Start ();
            thread.Join ();
        }
    }

    static long ResidentKilobytes ()
    {
        GC.Collect ();
        string line = File.ReadLines ("/proc/self/status").First (text => text.StartsWith ("RssAnon"));
        return long.Parse (new string (line.Where (char.IsDigit).ToArray ()));
    }

    static void Main ()
    {
        Run (10000);
        ResidentKilobytes ();
        Run (10000);
        long before = ResidentKilobytes ();
        Run (10000);
        long grown = ResidentKilobytes () - before;
        Console.WriteLine (grown < 5000 ? "nothing left" : grown + " KB left");
    }
}
