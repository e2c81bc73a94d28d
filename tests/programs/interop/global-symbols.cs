// The symbols of a native library are those of the whole process: other libraries and __Internal find them.
using System;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport ("libbz2.so.1.0", EntryPoint = "BZ2_bzDecompressEnd")] static extern int end (IntPtr stream);
    [DllImport ("__Internal", EntryPoint = "BZ2_bzDecompressEnd")] static extern int end_again (IntPtr stream);

    static void Main ()
    {
        // BZ_PARAM_ERROR: there is no stream.
        Console.WriteLine (end (IntPtr.Zero));
        Console.WriteLine (end_again (IntPtr.Zero));
    }
}
