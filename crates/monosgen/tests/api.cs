using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

[assembly: System.Reflection.AssemblyTitle ("api")]

namespace Some
{
    [AttributeUsage (AttributeTargets.All)]
    public class MarkAttribute : Attribute
    {
        public string Text; public int Number { get; set; }
        public MarkAttribute (string text) { Text = text; }
    }

    public interface IShape { double Area (); int Corners { get; } }
    public interface INamed : IShape { string Name { get; } }
    public enum Color : short { Red = 1, Green = 2 }
    [Flags] public enum Bits { A = 1, B = 2 }
    public delegate int Fold (int a, string b);

    [StructLayout (LayoutKind.Sequential)]
    public struct Pair { public byte Small; public long Large; public string Text; public static int Made; }

    public abstract class Shape : INamed
    {
        public const int Limit = 77;
        public const string Title = "shapes";
        public static int Count = 5;
        public static string Last = "none";
        [ThreadStatic] public static int PerThread;
        protected int id;
        public readonly string label;
        internal Color color;
        private static readonly byte [] data = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

        protected Shape (int id, string label) { this.id = id; this.label = label; Count++; }
        public abstract double Area ();
        public virtual int Corners { get { return 0; } }
        [Mark ("name", Number = 4)] public string Name { get { return label; } set { Last = value; } }
        public int this [int index, string key] { get { return index + key.Length; } set { Count = value; } }
        public event Fold Folded;
        public int Raise (int a, string b) { return Folded == null ? -1 : Folded (a, b); }
        public override string ToString () { return "shape " + label; }
        public byte Data (int index) { return data [index]; }
    }

    [Mark ("square", Number = 3)]
    [Serializable]
    public sealed class Square : Shape
    {
        public class Inner { public enum Deep { X } public static int Twice (int x) { return 2 * x; } }
        double side;
        public Square () : this (2) { }
        public Square (double side) : base (4, "square") { this.side = side; }
        public override double Area () { return side * side; }
        public override int Corners { get { return 4; } }
        public static int Over (int a) { return a; }
        public static int Over (string a) { return a.Length; }
        public static int Over (int a, ref string b, out Color c) { b = b + a; c = Color.Green; return 1; }
        public static unsafe int Point (int* p, int [] a, int [,] m, List<string> l, Dictionary<int, Inner> d) { return 0; }
        public static T Echo<T> (T value) where T : class { return value; }
        public static void Fails (string message) { throw new InvalidOperationException (message); }
        public static Fold Folder () { return (a, b) => a + b.Length; }
        ~Square () { }
    }

    public class Box<T>
    {
        public T Value;
        public static int Made;
        public T Get () { return Value; }
        public void Set (T value, Box<T> other) { Value = value; }
        public class Part<U> { public U Other; }
    }

    public class Holder
    {
        public Box<int> Numbers = new Box<int> ();
        public Box<string>.Part<Color> Part;
        public int [] Plain = { 3, 1, 2 };
        public int [,] Grid = new int [2, 3];
        public Pair Pair = new Pair { Small = 1, Large = 2, Text = "pair" };
        public int? Maybe = 9;
        public IntPtr Address;
        public object Anything;
        [DllImport ("libc")] public static extern int getpid ();
        public int Locked;
        public static int Length (object [] items) { return items.Length; }
        public static string Join (params object [] items) { return string.Join (",", items); }
        public static void Collect () { for (int i = 0; i < 20000; i++) new byte [100].ToString (); GC.Collect (); }
        public static int Main (string [] args) { Console.WriteLine ("main " + string.Join ("|", args)); return args.Length + 40; }
    }

    public class Loads
    {
        public static string Name (string name)
        {
            try {
                return System.Reflection.Assembly.Load (name).GetName ().Name;
            } catch (System.IO.FileNotFoundException) {
                return "not found";
            }
        }
    }

    public class Natives
    {
        [DllImport ("mapped", EntryPoint = "getpid")] static extern int GetPid ();
        [DllImport ("hostonly", EntryPoint = "triple")] static extern int Threefold (int x);
        [DllImport ("hostonly", EntryPoint = "absent")] static extern int Missing ();
        [DllImport ("hostless", EntryPoint = "triple")] static extern int Nobody (int x);
        public static int Nowhere () { return Nobody (1); }
        public static int Mapped () { return GetPid (); }
        public static int Triple (int x) { return Threefold (x); }
        public static int Absent () { return Missing (); }
        public static bool IsDebugged () { return System.Diagnostics.Debugger.IsAttached; }
        static string end = "none";
        public static System.Threading.Thread Sleeper (int ms)
        {
            var begun = new System.Threading.ManualResetEvent (false);
            var thread = new System.Threading.Thread (() => {
                try {
                    begun.Set ();
                    System.Threading.Thread.Sleep (ms);
                    end = "slept";
                } catch (System.Threading.ThreadAbortException) {
                    end = "aborted";
                }
            });
            thread.Start ();
            begun.WaitOne ();
            return thread;
        }
        public static string Joined (System.Threading.Thread thread) { return thread.Join (10000) ? end : "runs"; }
    }

    [System.Security.Permissions.SecurityPermission (System.Security.Permissions.SecurityAction.Demand, UnmanagedCode = true)]
    [System.Security.Permissions.SecurityPermission (System.Security.Permissions.SecurityAction.LinkDemand, ControlThread = true)]
    [System.Security.Permissions.SecurityPermission (System.Security.Permissions.SecurityAction.InheritanceDemand, ControlThread = true)]
    public class Guarded
    {
        [System.Security.Permissions.SecurityPermission (System.Security.Permissions.SecurityAction.Demand, ControlThread = true)]
        [System.Security.Permissions.SecurityPermission (System.Security.Permissions.SecurityAction.Assert, ControlThread = true)]
        public virtual void Demands () { }
        public void Free () { }
    }

    public class Passed : MarshalByRefObject
    {
        public int Number = 5; public string Text = "text";
        [DllImport ("nothing")] [return: MarshalAs (UnmanagedType.I1)]
        public static extern bool Pass ([MarshalAs (UnmanagedType.LPWStr)] string text, int plain,
            [MarshalAs (UnmanagedType.LPArray, SizeParamIndex = 1, SizeConst = 7)] byte [] bytes,
            [MarshalAs (UnmanagedType.CustomMarshaler, MarshalType = "Some.Marshaler", MarshalCookie = "cookie")] object custom,
            [MarshalAs (UnmanagedType.LPArray, ArraySubType = UnmanagedType.LPStr)] string [] texts,
            [MarshalAs (UnmanagedType.SafeArray, SafeArraySubType = VarEnum.VT_I4)] int [] safe);
        public static void Many (bool a, char b, sbyte c, ushort d, int e, ulong f, float g, double h, string i, IntPtr j, UIntPtr k,
            Color l, Pair m, int [] n, object o, Fold p, Square q, IShape r, HandleRef s, ref int t) { }
        public static AppDomain Other;
        public static object Remote () { return new Passed (); }
    }

    public class Walks
    {
        [System.Runtime.CompilerServices.MethodImpl (System.Runtime.CompilerServices.MethodImplOptions.InternalCall)] static extern void Raise ();
        [System.Runtime.CompilerServices.MethodImpl (System.Runtime.CompilerServices.MethodImplOptions.NoInlining)] static void Inner () { Raise (); }
        [System.Runtime.CompilerServices.MethodImpl (System.Runtime.CompilerServices.MethodImplOptions.NoInlining)] public static void Outer () { Inner (); Inner (); }
        public static int Spin (int [] stop) { int sum = 0; while (System.Threading.Volatile.Read (ref stop [0]) == 0) sum++; return sum; }
        public static string Many (int a, object b)
        {
            try {
                switch (a) {
                case 0: return "zero";
                case 1: return b.ToString ();
                case 2: return 1.5.ToString () + 2.5f + 1234567890123L + 100000;
                }
                for (int i = 0; i < a; i++)
                    a -= i * 300;
            } catch (InvalidOperationException) {
                return null;
            }
            return typeof (Walks).Name;
        }
        public static int Told<T> (T value) { return value.GetHashCode (); }
    }
    public struct Counted : IDisposable
    {
        public override string ToString () { return "counted"; }
        public void Dispose () { }
    }
}
