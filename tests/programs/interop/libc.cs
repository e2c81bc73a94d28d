// P/Invoke into libc: scalars, strings both ways, structs by reference, arrays, callbacks, errno, missing entry points.
using System;
using System.Runtime.InteropServices;
using System.Text;

[StructLayout(LayoutKind.Sequential)]
struct Timespec { public long Seconds, Nanoseconds; }

[StructLayout(LayoutKind.Sequential)]
struct DivResult { public int Quotient, Remainder; }

[StructLayout(LayoutKind.Sequential)]
struct LDivResult { public long Quotient, Remainder; }

static class Program
{
    delegate int Comparer(IntPtr a, IntPtr b);

    [DllImport("libc")] static extern int getpid();
    [DllImport("libc", EntryPoint = "strlen")] static extern UIntPtr Length(string s);
    [DllImport("libc")] static extern int abs(int n);
    [DllImport("libc")] static extern int toupper(int c);
    [DllImport("libc")] static extern int atoi(string s);
    [DllImport("libc")] static extern double strtod(string s, IntPtr end);
    [DllImport("libc")] static extern DivResult div(int a, int b);
    [DllImport("libc")] static extern LDivResult ldiv(long a, long b);
    [DllImport("libc")] static extern IntPtr getenv(string name);
    [DllImport("libc")] static extern int setenv(string name, string value, int overwrite);
    [DllImport("libc", EntryPoint = "qsort")] static extern void SortInts([In, Out] int[] data, UIntPtr count, UIntPtr size, Comparer comparer);
    [DllImport("libc", SetLastError = true)] static extern int close(int fd);
    [DllImport("libc", SetLastError = true)] static extern int access(string path, int mode);
    [DllImport("libc")] static extern int snprintf(StringBuilder buffer, UIntPtr size, string format, int value);
    [DllImport("libc")] static extern IntPtr memcpy(byte[] target, byte[] source, UIntPtr size);
    [DllImport("libc")] static extern int nanosleep(ref Timespec wanted, IntPtr remaining);
    [DllImport("libc")] static extern int clock_gettime(int clock, out Timespec now);
    [DllImport("libm.so.6")] static extern double cbrt(double x);
    [DllImport("libm.so.6")] static extern float fabsf(float x);
    [DllImport("libc")] static extern int no_such_function();
    [DllImport("no-such-library")] static extern int anything();
    [DllImport("libc", EntryPoint = "strdup")] [return: MarshalAs(UnmanagedType.LPStr)] static extern string Duplicate([MarshalAs(UnmanagedType.LPStr)] string s);

    static int calls;

    static int Compare(IntPtr a, IntPtr b)
    {
        calls++;
        if (calls % 10 == 0)
            GC.Collect(0);
        return Marshal.ReadInt32(a).CompareTo(Marshal.ReadInt32(b));
    }

    static void Main()
    {
        Console.WriteLine("{0} {1}", getpid() > 0, getpid() == System.Diagnostics.Process.GetCurrentProcess().Id);
        Console.WriteLine("{0} {1}", Length("hello"), Length("h\u00e9\u20ac"));
        Console.WriteLine("{0} {1} {2}", abs(-5), (char)toupper('q'), atoi("1234x"));
        Console.WriteLine("{0} {1} {2}", strtod("2.5e3", IntPtr.Zero) == 2500, Math.Abs(cbrt(27) - 3) < 1e-12, fabsf(-1.5f) == 1.5f);
        DivResult d = div(17, 5);
        LDivResult l = ldiv(17000000000, 5);
        Console.WriteLine("{0} {1} {2} {3}", d.Quotient, d.Remainder, l.Quotient, l.Remainder);
        setenv("SAKI_TEST", "from managed", 1);
        Console.WriteLine(Marshal.PtrToStringAnsi(getenv("SAKI_TEST")));
        Console.WriteLine(getenv("SAKI_NO_SUCH_VARIABLE") == IntPtr.Zero);
        int[] data = { 5, 2, 9, 1, 7, 3, 8, 4, 6, 0 };
        SortInts(data, (UIntPtr)data.Length, (UIntPtr)4, Compare);
        Console.WriteLine("{0} {1}", string.Join(" ", data), calls > 9);
        Console.WriteLine("{0} {1}", close(-1), Marshal.GetLastWin32Error());
        Console.WriteLine("{0} {1}", access("/no/such/file", 0), Marshal.GetLastWin32Error());
        StringBuilder buffer = new StringBuilder(64);
        snprintf(buffer, (UIntPtr)64, "<%d>", 42);
        Console.WriteLine(buffer);
        byte[] target = new byte[4];
        memcpy(target, new byte[] { 1, 2, 3, 4 }, (UIntPtr)3);
        Console.WriteLine(string.Join(" ", target));
        Timespec wanted = new Timespec { Nanoseconds = 1000000 }, now;
        Console.WriteLine("{0} {1} {2}", nanosleep(ref wanted, IntPtr.Zero), clock_gettime(1, out now), now.Seconds >= 0);
        Console.WriteLine(Duplicate("twice"));
        foreach (Func<int> bad in new Func<int>[] { no_such_function, anything })
        {
            try
            {
                bad();
            }
            catch (TypeLoadException e) // base of both
            {
                Console.WriteLine(e.GetType().Name);
            }
        }
        long sum = 0;
        for (int i = 0; i < 100000; i++)
            sum += abs(i - 50000);
        Console.WriteLine(sum);
    }
}
