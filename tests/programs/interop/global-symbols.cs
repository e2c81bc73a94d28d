// The symbols of a native library are those of the whole process: other libraries and __Internal find them.
using System;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport ("libthread_db.so.1", EntryPoint = "td_init")] static extern int initialise ();
    [DllImport ("__Internal", EntryPoint = "td_init")] static extern int again ();

    static void Main ()
    {
        Console.WriteLine (initialise ());
        Console.WriteLine (again ());
    }
}
