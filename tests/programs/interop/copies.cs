// What native code gets a copy of: objects by their own type (AsAny), builders that it makes, dates.
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

[StructLayout (LayoutKind.Sequential)]
class Pair {
    public int first = 1;
    public string second = "two";
}

class Shapeless { }

static class Program {
    [DllImport ("libc")] static extern IntPtr strlen ([MarshalAs (UnmanagedType.AsAny)] object text);
    [DllImport ("libc")] static extern IntPtr memcpy (byte[] to, [MarshalAs (UnmanagedType.AsAny)] object from, IntPtr size);
    [DllImport ("libc")] static extern IntPtr memset ([MarshalAs (UnmanagedType.AsAny), In, Out] object place, int value, IntPtr size);
    [DllImport ("libc")] static extern IntPtr fopen (string path, string mode);
    [DllImport ("libc")] static extern int fclose (IntPtr file);
    [DllImport ("libc")] static extern IntPtr getline (out StringBuilder line, ref long size, IntPtr file);
    [DllImport ("libm.so.6")] static extern double floor (DateTime date);
    [DllImport ("libm.so.6")] static extern double modf (double date, out DateTime whole);

    static void Main ()
    {
        Console.WriteLine ("{0} {1}", strlen ("häß"), strlen (new StringBuilder ("builder")));
        var copy = new byte[8];
        memcpy (copy, 0x01020304, (IntPtr) 4);
        Console.WriteLine (BitConverter.ToString (copy));
        memcpy (copy, new short[] { 1, 2, 3, 4 }, (IntPtr) 8);
        Console.WriteLine (BitConverter.ToString (copy));
        memcpy (copy, new Pair (), (IntPtr) 4);
        Console.WriteLine (BitConverter.ToString (copy));
        var pair = new Pair ();
        memset (pair, 1, (IntPtr) 4);
        var numbers = new[] { 5, 6 };
        memset (numbers, 0, (IntPtr) 4);
        Console.WriteLine ("{0:x} {1} {2} {3}", pair.first, pair.second, numbers[0], numbers[1]);
        try {
            strlen (new Shapeless ());
        } catch (ArgumentException e) {
            Console.WriteLine (e.Message);
        }

        var path = Path.GetTempFileName ();
        File.WriteAllText (path, "täxt\n");
        var file = fopen (path, "r");
        StringBuilder line;
        long size = 0;
        getline (out line, ref size, file);
        Console.WriteLine ("{0} {1}", line.ToString ().Trim (), line.Append ('!').Length);
        fclose (file);
        File.Delete (path);

        var date = new DateTime (2009, 3, 7, 18, 0, 0);
        DateTime whole;
        Console.WriteLine ("{0} {1}", floor (date), modf (date.ToOADate (), out whole));
        Console.WriteLine (whole.ToString ("s"));
    }
}
