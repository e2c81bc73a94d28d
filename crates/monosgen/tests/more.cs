// What some hosts need besides api.cs, behind which it is compiled.
namespace Some
{
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
