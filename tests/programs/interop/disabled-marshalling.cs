// mcs: -unsafe
// DisableRuntimeMarshallingAttribute: P/Invokes and delegates of the assembly pass all values as they are.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

[assembly: DisableRuntimeMarshalling]

namespace System.Runtime.CompilerServices
{
    [AttributeUsage (AttributeTargets.Assembly)]
    sealed class DisableRuntimeMarshallingAttribute : Attribute { }
}
namespace System.Runtime.InteropServices
{
    [AttributeUsage (AttributeTargets.Method)]
    sealed class SuppressGCTransitionAttribute : Attribute { }
}

struct Pair<T> { public T a, b; }
struct Mixed { public bool flag; public char letter; public byte number; }
struct WithText { public string text; }
[StructLayout (LayoutKind.Auto)] struct Automatic { public int a; public byte b; }
struct OfAutomatic { public Automatic a; }
[StructLayout (LayoutKind.Sequential)] class Layout { public int a; }
enum Small : short { None, One }
class Handle : SafeHandle
{
    public Handle () : base (IntPtr.Zero, true) { }
    public override bool IsInvalid { get { return false; } }
    protected override bool ReleaseHandle () { return true; }
}

static unsafe class Program
{
    delegate int OfReference (ref int x);
    delegate int OfText (string s);
    delegate bool OfBool (bool b, char c);
    [UnmanagedFunctionPointer (CallingConvention.Cdecl, SetLastError = true)] delegate int WithError (int x);
    delegate int Plain (int x);

    [DllImport ("libc", EntryPoint = "abs")] static extern int Abs (int x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int AbsOfBool (bool x);
    [DllImport ("libc", EntryPoint = "abs")] static extern bool AbsAsBool (int x);
    [DllImport ("libc", EntryPoint = "abs")] static extern char AbsAsChar (char x);
    [DllImport ("libc", EntryPoint = "abs")] static extern Small AbsOfEnum (Small x);
    [DllImport ("libc", EntryPoint = "abs"), SuppressGCTransition] static extern int QuickAbs (int x);
    [DllImport ("libc", EntryPoint = "toupper", CharSet = CharSet.Ansi)] static extern char ToUpper (char x);
    [DllImport ("libc", EntryPoint = "div")] static extern Pair<int> Div (int x, int y);
    [DllImport ("libc", EntryPoint = "memcpy")] static extern Mixed* Copy (Mixed* to, Mixed* from, IntPtr size);
    [DllImport ("libc", EntryPoint = "abs")] static extern int AbsOfMixed (Mixed x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int AbsOfGuid (Guid x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int AbsOfDecimal (decimal x);

    [DllImport ("libc", EntryPoint = "abs")] static extern int Reference (ref int x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int Out (out int x);
    [DllImport ("libc", EntryPoint = "strlen")] static extern int Text (string x);
    [DllImport ("libc", EntryPoint = "strlen")] static extern int Builder (StringBuilder x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int Array (int[] x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int Object (object x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int Class (Layout x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int Delegate (Plain x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfHandle (Handle x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfWithText (WithText x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfGenericText (Pair<string> x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfAuto (Automatic x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfNestedAuto (OfAutomatic x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfDate (DateTime x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfNullable (int? x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int OfTuple (ValueTuple<int, int> x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int MarshalAsBool ([MarshalAs (UnmanagedType.Bool)] bool x);
    [DllImport ("libc", EntryPoint = "abs")] static extern int MarshalAsInt ([MarshalAs (UnmanagedType.I4)] int x);
    [DllImport ("libc", EntryPoint = "abs")] [return: MarshalAs (UnmanagedType.I4)] static extern int MarshalAsResult (int x);
    [DllImport ("libc", EntryPoint = "abs", SetLastError = true)] static extern int LastError (int x);
    [DllImport ("libc", EntryPoint = "abs", PreserveSig = false)] static extern int NoPreserveSig (int x);
    [DllImport ("libc", EntryPoint = "getenv")] static extern string Result (IntPtr x);

    static void Try (string name, Func<object> f)
    {
        try {
            Console.WriteLine ("{0}: {1}", name, f ());
        } catch (Exception e) {
            Console.WriteLine ("{0}: {1}: {2}", name, e.GetType ().Name, e.Message);
        }
    }

    static void Main ()
    {
        Try ("int", () => Abs (-3));
        Try ("bool", () => AbsOfBool (true));
        Try ("bool of 4 bytes", () => AbsAsBool (0x400));
        Try ("bool of 1 byte", () => AbsAsBool (0x402));
        Try ("char", () => (int) AbsAsChar ('\u1234'));
        Try ("enum", () => AbsOfEnum (Small.One));
        Try ("without transition", () => QuickAbs (-4));
        Try ("ANSI char", () => ToUpper ('x'));
        Try ("generic struct", () => { var p = Div (17, 5); return p.a + " " + p.b; });
        Try ("struct", () => AbsOfMixed (new Mixed { flag = true, letter = 'a' }) & 0xff);
        Try ("pointers", () => { Mixed from = new Mixed { flag = true, letter = 'y', number = 7 }, to; return Copy (&to, &from, (IntPtr) sizeof (Mixed))->letter + " " + sizeof (Mixed); });
        Try ("Guid", () => AbsOfGuid (new Guid (5, 0, 0, new byte[8])));
        Try ("decimal", () => AbsOfDecimal (0));
        Try ("SizeOf", () => Marshal.SizeOf (typeof (Mixed)));

        Try ("ref", () => { int x = 1; return Reference (ref x); });
        Try ("out", () => { int x; return Out (out x); });
        Try ("string", () => Text ("x"));
        Try ("StringBuilder", () => Builder (new StringBuilder ("x")));
        Try ("array", () => Array (null));
        Try ("object", () => Object (null));
        Try ("class", () => Class (new Layout ()));
        Try ("delegate", () => Delegate (null));
        Try ("SafeHandle", () => OfHandle (new Handle ()));
        Try ("struct with string", () => OfWithText (new WithText ()));
        Try ("generic struct with string", () => OfGenericText (new Pair<string> ()));
        Try ("automatic layout", () => OfAuto (new Automatic { a = 6 }));
        Try ("field with automatic layout", () => OfNestedAuto (new OfAutomatic ()));
        Try ("DateTime", () => OfDate (new DateTime (8)));
        Try ("nullable", () => OfNullable (9));
        Try ("tuple", () => OfTuple (new ValueTuple<int, int> (7, 8)));
        Try ("MarshalAs on bool", () => MarshalAsBool (true));
        Try ("MarshalAs on int", () => MarshalAsInt (-5));
        Try ("MarshalAs on the result", () => MarshalAsResult (-5));
        Try ("SetLastError", () => LastError (-5));
        Try ("PreserveSig", () => NoPreserveSig (-5));
        Try ("string result", () => Result (IntPtr.Zero));

        OfBool both = (b, c) => b && c == '\u1234';
        Try ("delegate of bool", () => {
            var again = (OfBool) Marshal.GetDelegateForFunctionPointer (Marshal.GetFunctionPointerForDelegate (both), typeof (OfBool));
            return again (true, '\u1234');
        });
        OfReference reference = (ref int x) => x;
        Try ("delegate with ref", () => Marshal.GetFunctionPointerForDelegate (reference) != IntPtr.Zero);
        OfText text = s => 1;
        Try ("delegate with string", () => Marshal.GetFunctionPointerForDelegate (text) != IntPtr.Zero);
        WithError error = x => 1;
        Try ("delegate with SetLastError", () => Marshal.GetFunctionPointerForDelegate (error) != IntPtr.Zero);
        Plain plain = x => x + 1;
        IntPtr pointer = Marshal.GetFunctionPointerForDelegate (plain);
        GC.KeepAlive (plain);
    }
}
