// P/Invoke, marshalling, memory, handles.
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Microsoft.Win32.SafeHandles;
using static Sweep;

[StructLayout (LayoutKind.Sequential)] struct Tm { public int sec, min, hour, mday, mon, year, wday, yday, isdst; public long gmtoff; public IntPtr zone; }
[StructLayout (LayoutKind.Sequential, CharSet = CharSet.Ansi)] struct Utsname { [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 65)] public string sysname; [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 65)] public string nodename; [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 65)] public string release, version, machine, domain; }
[StructLayout (LayoutKind.Explicit)] struct Union { [FieldOffset (0)] public int I; [FieldOffset (0)] public float F; [FieldOffset (0)] public byte B0; [FieldOffset (8)] public long L; }
[StructLayout (LayoutKind.Sequential, Pack = 1)] struct Packed { public byte A; public int B; public short C; }
[StructLayout (LayoutKind.Sequential)] struct Inline { [MarshalAs (UnmanagedType.ByValArray, SizeConst = 4)] public int[] A; [MarshalAs (UnmanagedType.LPStr)] public string S; [MarshalAs (UnmanagedType.LPWStr)] public string W; public bool B; [MarshalAs (UnmanagedType.U1)] public bool C; public char D; [MarshalAs (UnmanagedType.FunctionPtr)] public Action F; }
[StructLayout (LayoutKind.Sequential)] class Cls { public int X = 3; public double Y = 1.5; [MarshalAs (UnmanagedType.ByValTStr, SizeConst = 8)] public string T = "text"; }
struct Div { public int quot, rem; }
unsafe struct Fixed { public fixed int A[4]; public fixed char C[3]; }
class FileHandle : SafeHandleMinusOneIsInvalid { public static int Closed; FileHandle () : base (true) { } protected override bool ReleaseHandle () { Closed++; return Native.close (handle.ToInt32 ()) == 0; } }
static class Native {
    public delegate int Compare (IntPtr a, IntPtr b);
    [UnmanagedFunctionPointer (CallingConvention.Cdecl)] public delegate IntPtr Start (IntPtr a);
    public delegate double Unary (double x);
    [DllImport ("libc")] public static extern int getpid ();
    [DllImport ("libc")] public static extern int close (int fd);
    [DllImport ("libc")] public static extern IntPtr strlen (string s);
    [DllImport ("libc", EntryPoint = "strlen")] public static extern IntPtr strlen_bytes (byte[] s);
    [DllImport ("libc", EntryPoint = "strlen")] public static extern IntPtr strlen_builder (StringBuilder s);
    [DllImport ("libc")] public static extern IntPtr strcpy (StringBuilder d, string s);
    [DllImport ("libc", EntryPoint = "strdup")] [return: MarshalAs (UnmanagedType.LPStr)] public static extern string strdup_text (string n);
    [DllImport ("libc")] public static extern IntPtr gmtime_r (ref long t, out Tm r);
    [DllImport ("libc")] public static extern int uname (out Utsname u);
    [DllImport ("libc")] public static extern Div div (int a, int b);
    [DllImport ("libc")] public static extern void qsort ([In, Out] int[] a, IntPtr n, IntPtr size, Compare c);
    [DllImport ("libc")] public static extern IntPtr memcpy ([Out] byte[] d, byte[] s, IntPtr n);
    [DllImport ("libc", EntryPoint = "memcpy")] public static extern IntPtr memcpy_ptr (byte[] d, IntPtr s, IntPtr n);
    [DllImport ("libc", SetLastError = true)] public static extern int open (string p, int f);
    [DllImport ("libc", SetLastError = true, EntryPoint = "open")] public static extern FileHandle open_safe (string p, int f);
    [DllImport ("libc")] public static extern IntPtr read (FileHandle h, byte[] b, IntPtr n);
    [DllImport ("libc")] public static extern int pipe (int[] fds);
    [DllImport ("libpthread.so.0")] public static extern int pthread_create (out IntPtr t, IntPtr a, Start s, IntPtr x);
    [DllImport ("libpthread.so.0")] public static extern int pthread_join (IntPtr t, out IntPtr r);
    [DllImport ("libm.so.6")] public static extern double cbrt (double x);
    [DllImport ("libm.so.6")] public static extern float fmaf (float a, float b, float c);
    [DllImport ("no-such-library")] public static extern void gone ();
    [DllImport ("libc")] public static extern void no_such_function_here ();
    [DllImport ("libc", CallingConvention = CallingConvention.Cdecl)] public static extern int toupper (int c);
    [DllImport ("libc", PreserveSig = false)] public static extern void abs (int hr);
    [DllImport ("libc", CharSet = CharSet.Unicode, EntryPoint = "memchr")] public static extern IntPtr memchr_wide (string s, int c, IntPtr n);
}

static class Program {
    static void Main ()
    {
        Check ("Numbers", () => Print (Native.getpid () == System.Diagnostics.Process.GetCurrentProcess ().Id, Native.toupper ('a'), Native.cbrt (27), Native.fmaf (2, 3, 4)));
        Check ("Strings", () => { Print (Native.strlen ("häß€"), Native.strlen_bytes (new byte[] { 65, 66, 0 }), Native.strlen_builder (new StringBuilder ("abc"))); var b = new StringBuilder (20); Native.strcpy (b, "cöpied"); Print (b, b.Length); Print (Native.strdup_text ("dup")); });
        Check ("Structures", () => { long t = 1236387723; Tm tm; Native.gmtime_r (ref t, out tm); Print (tm.year, tm.mon, tm.mday, tm.hour, tm.min, tm.sec); Utsname u; Print (Native.uname (out u), u.sysname, u.nodename == Environment.MachineName, u.release.Length > 0); var d = Native.div (17, 5); Print (d.quot, d.rem); });
        Check ("Callback", () => { var a = new[] { 5, 3, 9, 1 }; Native.qsort (a, (IntPtr) 4, (IntPtr) 4, (x, y) => Marshal.ReadInt32 (x) - Marshal.ReadInt32 (y)); Print (a); });
        Check ("Callback that throws", () => { try { var a = new[] { 5, 3 }; Native.qsort (a, (IntPtr) 2, (IntPtr) 4, (x, y) => { throw new InvalidOperationException ("in callback"); }); } catch (InvalidOperationException e) { Print (e.Message); } });
        Check ("Callback from a native thread", () => { IntPtr t, r; int seen = 0; Native.Start s = x => { seen = x.ToInt32 (); new object (); GC.Collect (); return x + 1; }; Native.pthread_create (out t, IntPtr.Zero, s, (IntPtr) 41); Native.pthread_join (t, out r); GC.KeepAlive (s); Print (seen, r); });
        Check ("Many native threads", () => { int count = 0; Native.Start s = x => { Interlocked.Increment (ref count); return IntPtr.Zero; }; for (int i = 0; i < 50; i++) { IntPtr t, r; Native.pthread_create (out t, IntPtr.Zero, s, IntPtr.Zero); Native.pthread_join (t, out r); } GC.KeepAlive (s); Print (count); });
        Check ("Arrays", () => { var d = new byte[4]; Native.memcpy (d, new byte[] { 1, 2, 3, 4 }, (IntPtr) 4); Print (d); var f = new int[2]; Print (Native.pipe (f), f[0] > 2, f[1] > f[0]); Native.close (f[0]); Native.close (f[1]); });
        Check ("Last error", () => { Print (Native.open ("/no/such/file", 0), Marshal.GetLastWin32Error (), new Win32Exception (2).Message, new Win32Exception (13).NativeErrorCode); });
        Check ("SafeHandle", () => { using (var h = Native.open_safe ("/etc/passwd", 0)) { var b = new byte[4]; Print (h.IsInvalid, Native.read (h, b, (IntPtr) 4), Encoding.ASCII.GetString (b)); } Print (FileHandle.Closed); var bad = Native.open_safe ("/no/such", 0); Print (bad.IsInvalid, bad.IsClosed); bad.Dispose (); Print (FileHandle.Closed); Native.read (bad, new byte[1], (IntPtr) 1); });
        Check ("Missing library", () => { try { Native.gone (); } catch (DllNotFoundException e) { Print (e.Message.Contains ("no-such-library")); } });
        Check ("Missing function", () => { try { Native.no_such_function_here (); } catch (EntryPointNotFoundException e) { Print (e.Message.Contains ("no_such_function_here")); } });
        Check ("HRESULT", () => { Native.abs (0); Print ("ok"); });
        Check ("Function pointers", () => { var p = Marshal.GetFunctionPointerForDelegate (new Native.Unary (x => x * 2)); var d = (Native.Unary) Marshal.GetDelegateForFunctionPointer (p, typeof (Native.Unary)); Print (d (21)); Marshal.GetFunctionPointerForDelegate ((Delegate) null); });
        Check ("Generic delegate as function pointer", () => Marshal.GetFunctionPointerForDelegate (new Func<int> (() => 1)));
        Check ("Sizes", () => Print (Marshal.SizeOf (typeof (Tm)), Marshal.SizeOf (typeof (Utsname)), Marshal.SizeOf (typeof (Union)), Marshal.SizeOf (typeof (Packed)), Marshal.SizeOf (typeof (Inline)), Marshal.SizeOf (typeof (Cls)), Marshal.SizeOf (typeof (Fixed)), Marshal.SizeOf (typeof (IntPtr)), Marshal.SizeOf (1), Marshal.SizeOf (typeof (Guid)), Marshal.SizeOf (typeof (decimal))));
        Check ("Size of a string", () => Print (Marshal.SizeOf (typeof (string))));
        Check ("Offsets", () => Print (Marshal.OffsetOf (typeof (Packed), "B"), Marshal.OffsetOf (typeof (Inline), "S"), Marshal.OffsetOf (typeof (Inline), "D"), Marshal.OffsetOf (typeof (Union), "L"), Marshal.OffsetOf (typeof (Cls), "T")));
        Check ("Offset of nothing", () => Marshal.OffsetOf (typeof (Packed), "Z"));
        Check ("StructureToPtr", () => { var p = Marshal.AllocHGlobal (100); Marshal.StructureToPtr (new Inline { A = new[] { 1, 2, 3, 4 }, S = "ansi", W = "wide", B = true, C = true, D = 'x' }, p, false); var i = (Inline) Marshal.PtrToStructure (p, typeof (Inline)); Print (i.A, i.S, i.W, i.B, i.C, i.D, Marshal.ReadInt32 (p, 4), Marshal.PtrToStringAnsi (Marshal.ReadIntPtr (p, 16))); Marshal.DestroyStructure (p, typeof (Inline)); var c = new Cls { X = 9, T = "longer than eight" }; Marshal.StructureToPtr (c, p, false); var e = new Cls (); Marshal.PtrToStructure (p, e); Print (e.X, e.Y, e.T); Marshal.FreeHGlobal (p); });
        Check ("Explicit layout", () => { var u = new Union { F = 1.0f, L = 7 }; Print (u.I, u.B0, u.L); });
        Check ("Reading and writing memory", () => { var p = Marshal.AllocHGlobal (32); Marshal.WriteInt64 (p, 0x1122334455667788); Print (Marshal.ReadByte (p, 1), Marshal.ReadInt16 (p, 2), Marshal.ReadInt32 (p, 4)); Marshal.Copy (new[] { 1.5, 2.5 }, 0, p, 2); var d = new double[2]; Marshal.Copy (p, d, 0, 2); Print (d); p = Marshal.ReAllocHGlobal (p, (IntPtr) 64); Marshal.Copy (new[] { 'a', 'b' }, 0, p, 2); Print (Marshal.PtrToStringUni (p, 2)); Marshal.FreeHGlobal (p); var q = Marshal.AllocCoTaskMem (8); q = Marshal.ReAllocCoTaskMem (q, 16); Marshal.FreeCoTaskMem (q); });
        Check ("Strings in memory", () => { var p = Marshal.StringToHGlobalAnsi ("äb"); Print (Marshal.PtrToStringAnsi (p), Marshal.ReadByte (p)); Marshal.FreeHGlobal (p); p = Marshal.StringToHGlobalUni ("wide"); Print (Marshal.PtrToStringUni (p)); Marshal.FreeHGlobal (p); p = Marshal.StringToCoTaskMemUni ("task"); Print (Marshal.PtrToStringUni (p)); Marshal.FreeCoTaskMem (p); p = Marshal.StringToBSTR ("bstr"); Print (Marshal.PtrToStringBSTR (p), Marshal.ReadInt32 (p, -4)); Marshal.FreeBSTR (p); Print (Marshal.PtrToStringAnsi (IntPtr.Zero)); });
        Check ("GCHandle", () => { var o = new object (); var h = GCHandle.Alloc (o); Print (h.IsAllocated, h.Target == o, GCHandle.FromIntPtr (GCHandle.ToIntPtr (h)).Target == o); h.Free (); Print (h.IsAllocated); var b = new byte[] { 1, 2, 3 }; h = GCHandle.Alloc (b, GCHandleType.Pinned); Print (Marshal.ReadByte (h.AddrOfPinnedObject (), 1), Marshal.UnsafeAddrOfPinnedArrayElement (b, 2).ToInt64 () - h.AddrOfPinnedObject ().ToInt64 ()); h.Free (); h.Free (); });
        Check ("Pinning what cannot be", () => GCHandle.Alloc (new object[1], GCHandleType.Pinned));
        Check ("Exceptions and HRESULTs", () => { foreach (var hr in new[] { -2147024809, -2147467261, -2147467259, -2147024894, unchecked ((int) 0x80131509) }) { var e = Marshal.GetExceptionForHR (hr); Print (hr, e == null ? null : e.GetType ()); } Print (Marshal.GetHRForException (new ArgumentException ()), Marshal.GetHRForException (new System.IO.IOException ())); Marshal.ThrowExceptionForHR (-2147024891); });
        Check ("Fixed buffers and pointers", () => { unsafe { Fixed f; f.A[2] = 5; f.C[1] = 'q'; int* p = stackalloc int[3]; p[1] = 8; Print (f.A[2], f.C[1], p[1], sizeof (Packed), sizeof (Fixed)); fixed (char* c = "str") Print (c[1]); } });
        Check ("Prelink and attributes", () => { var m = typeof (Native).GetMethod ("open"); Marshal.Prelink (m); var a = (DllImportAttribute) m.GetCustomAttributes (typeof (DllImportAttribute), false)[0]; Print (a.Value, a.SetLastError, a.EntryPoint, m.GetMethodImplementationFlags (), typeof (Packed).StructLayoutAttribute.Pack, typeof (Inline).GetField ("A").GetCustomAttributes (typeof (MarshalAsAttribute), false).Cast<MarshalAsAttribute> ().Select (x => x.Value + ":" + x.SizeConst)); });
        Check ("Marshal misc", () => Print (Marshal.SystemDefaultCharSize, Marshal.SystemMaxDBCSCharSize, Marshal.GenerateGuidForType (typeof (string)) != Guid.Empty, Marshal.IsComObject (1), RuntimeInformation.IsOSPlatform (OSPlatform.Linux), RuntimeInformation.ProcessArchitecture, RuntimeEnvironment.GetSystemVersion (), RuntimeEnvironment.FromGlobalAccessCache (typeof (object).Assembly)));
        Check ("HandleRef and CriticalHandle", () => { var h = new HandleRef (new object (), (IntPtr) 5); Print (h.Handle, (IntPtr) h, new SafeFileHandle ((IntPtr) (-1), false).IsInvalid); });
        Check ("ConditionalWeakTable", () => { var t = new ConditionalWeakTable<object, string> (); var k = new object (); t.Add (k, "v"); string v; Print (t.TryGetValue (k, out v), v, t.GetValue (new object (), x => "made"), t.Remove (k), t.TryGetValue (k, out v)); });
        Check ("RuntimeHelpers", () => { RuntimeHelpers.PrepareConstrainedRegions (); RuntimeHelpers.EnsureSufficientExecutionStack (); RuntimeHelpers.RunClassConstructor (typeof (Native).TypeHandle); Print (RuntimeHelpers.Equals (1, 1), RuntimeHelpers.GetObjectValue (5), RuntimeHelpers.OffsetToStringData); });
        Check ("Array subtype conversions", () => { var p = Marshal.AllocHGlobal (16); Marshal.Copy (new[] { 1, 2, 3, 4 }, 0, p, 4); var b = new byte[16]; Native.memcpy_ptr (b, p, (IntPtr) 16); Print (b); Marshal.FreeHGlobal (p); });
    }
}
