// Arrays that native code makes and whose length another parameter tells; HandleRef fields; structures that native code takes
// by pointer (LPStruct); [In, Out] custom marshalling.
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;

struct Buffer {
#if NET
    // No HandleRef may be a field there.
    public IntPtr data;
#else
    public HandleRef data;
#endif
    public long length;
}

// Not blittable: the zone is a string.
struct Time {
    public int second, minute, hour, day, month, year, weekday, dayOfYear, isSummer;
    public long offset;
    public string zone;
}

class Doubler : ICustomMarshaler {
    public static int cleaned;
    public static object seen;

    public static ICustomMarshaler GetInstance (string cookie) => new Doubler ();

    public IntPtr MarshalManagedToNative (object value)
    {
        var place = Marshal.AllocHGlobal (4);
        Marshal.WriteInt32 (place, (int) value * 2);
        return place;
    }

    public object MarshalNativeToManaged (IntPtr place) => seen = Marshal.ReadInt32 (place);

    public void CleanUpNativeData (IntPtr place)
    {
        cleaned++;
        Marshal.FreeHGlobal (place);
    }

    public void CleanUpManagedData (object value) { }

    public int GetNativeDataSize () => 4;
}

static class Program {
    [DllImport ("libc")] static extern IntPtr fopen (string path, string mode);
    [DllImport ("libc")] static extern int fclose (IntPtr file);
    [DllImport ("libc")] static extern IntPtr getline ([MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 1)] out byte[] line, ref long size, IntPtr file);
    [DllImport ("libc")] static extern IntPtr writev (int file, ref Buffer buffer, int count);
    [DllImport ("libc")] static extern IntPtr memset ([MarshalAs (UnmanagedType.CustomMarshaler, MarshalTypeRef = typeof (Doubler)), In, Out] object place, int value, IntPtr count);
    [DllImport ("libc", EntryPoint = "labs")] static extern long word ([MarshalAs (UnmanagedType.CustomMarshaler, MarshalTypeRef = typeof (Doubler)), Out] object place);

    [DllImport ("libc", EntryPoint = "memcmp")] static extern int compare ([MarshalAs (UnmanagedType.LPStruct)] Guid a, byte[] b, IntPtr size);
    [DllImport ("libc", EntryPoint = "strftime")] static extern IntPtr format (StringBuilder text, IntPtr size, string format, [MarshalAs (UnmanagedType.LPStruct)] Time time);

    static void Main ()
    {
        var path = Path.GetTempFileName ();
        File.WriteAllText (path, "first line\nsecond\n");
        var file = fopen (path, "r");
        byte[] line;
        long size = 0;
        var length = getline (out line, ref size, file);
        Console.WriteLine ("{0} {1} {2}", length, line.Length == size, Encoding.ASCII.GetString (line, 0, (int) length - 1));
        fclose (file);
        File.Delete (path);

        var memory = Marshal.StringToHGlobalAnsi ("by writev\n");
        var owner = new object ();
#if NET
        var buffer = new Buffer { data = memory, length = 10 };
        bool isKept = buffer.data == memory;
#else
        var buffer = new Buffer { data = new HandleRef (owner, memory), length = 10 };
        bool isKept = buffer.data.Wrapper == owner;
#endif
        Console.Out.Flush ();
        Console.WriteLine ("{0} {1} {2}", writev (1, ref buffer, 1), buffer.length, isKept);
        Marshal.FreeHGlobal (memory);

        var guid = Guid.NewGuid ();
        Console.WriteLine (compare (guid, guid.ToByteArray (), (IntPtr) 16));
        var date = new StringBuilder (40);
        try {
            format (date, (IntPtr) 40, "%Y-%m-%d %H:%M %Z", new Time { year = 109, month = 2, day = 7, hour = 16, minute = 5, zone = "ZONE" });
            Console.WriteLine (date);
        } catch (MarshalDirectiveException e) {
            // .NET takes no structure of the program's by pointer.
            Console.WriteLine (e.Message);
        }

        object value = 5;
        memset (value, 1, (IntPtr) 2);
        Console.WriteLine ("{0} {1:x} {2}", value, Doubler.seen, Doubler.cleaned);
#if !NET // where what was never made is freed
        Console.WriteLine ("{0} {1}", word (value), Doubler.cleaned);
#endif
    }
}
