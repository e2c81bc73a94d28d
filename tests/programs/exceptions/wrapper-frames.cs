// Stack traces of exceptions show the code between methods as Mono's do: calls of delegates with several or virtual targets, stubs for objects
// that may be proxies, the lock of synchronized methods, calls from and into native code. Only those lines are printed.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Remoting.Messaging;
using System.Runtime.Remoting.Proxies;

namespace Space {
    public struct Pair { public int A, B; public class Inside {} }
    public delegate T Generic<T> (T value);
    public delegate void OnThing (Thing thing, int n);
    public interface IThing { void Interface (); }

    public class Thing : IThing {
        public virtual void Virtual (int n) { throw new ApplicationException (); }
        public void Interface () { throw new ApplicationException (); }
        [MethodImpl (MethodImplOptions.Synchronized)] public void Locked (Pair.Inside inside) { throw new ApplicationException (); }
        [MethodImpl (MethodImplOptions.Synchronized)] public static void LockedStatic (List<int> list) { throw new ApplicationException (); }
        [MethodImpl (MethodImplOptions.Synchronized)] public void Caught ()
        {
            try {
                throw new ApplicationException ();
            } catch (ApplicationException e) {
                Program.Show ("caught inside", e);
            }
        }
        [MethodImpl (MethodImplOptions.Synchronized)] public void Again ()
        {
            try {
                throw new ApplicationException ();
            } catch (ApplicationException) {
                throw;
            }
        }
    }

    public class Locked<T> {
        [MethodImpl (MethodImplOptions.Synchronized)] public static void Method (T value) { throw new ApplicationException (); }
    }

    public class Remote : MarshalByRefObject {
        public int Plain (int n) { throw new ApplicationException (); }
        public virtual int Virtual (int n) { throw new ApplicationException (); }
        [MethodImpl (MethodImplOptions.Synchronized)] public void Locked () { throw new ApplicationException (); }
    }

    class Proxy : RealProxy {
        public Proxy () : base (typeof (Remote)) {}
        public override IMessage Invoke (IMessage message) { throw new ApplicationException (); }
    }
}

static class Program {
    [UnmanagedFunctionPointer (CallingConvention.Cdecl)]
    delegate int Compare (IntPtr a, IntPtr b);

    [DllImport ("libc")]
    static extern void qsort (IntPtr first, IntPtr count, IntPtr size, Compare compare);

    public static void Show (string what, Exception e)
    {
        Console.WriteLine ("{0}:", what);
        foreach (var line in e.StackTrace.Split ('\n'))
            if (line.Contains ("(wrapper "))
                Console.WriteLine (line.TrimEnd ());
    }

    static void Try (string what, Action work)
    {
        try {
            work ();
        } catch (ApplicationException e) {
            Show (what, e);
        }
    }

    [MethodImpl (MethodImplOptions.NoInlining)] static void Throw () { throw new ApplicationException (); }
    [MethodImpl (MethodImplOptions.NoInlining)] static int ThrowInt (int n) { throw new ApplicationException (); }
    [MethodImpl (MethodImplOptions.NoInlining)] static Space.Remote Make () { return new Space.Remote (); }
    static int Throwing (IntPtr a, IntPtr b) { Throw (); return 0; }

    static void Main ()
    {
        var thing = new Space.Thing ();
        Try ("two targets", () => { Action d = Throw; d += Throw; d (); });
        Try ("two targets, with a result", () => { Space.Generic<int> d = ThrowInt; d += ThrowInt; d (1); });
        Try ("two targets, of a generic delegate", () => { Func<int, int> d = ThrowInt; d += ThrowInt; d (1); });
        Try ("two targets, by reflection", () => {
            Action d = Throw;
            d += Throw;
            try {
                d.DynamicInvoke ();
            } catch (System.Reflection.TargetInvocationException e) {
                Show ("inner", e.InnerException);
            }
        });
        Try ("open virtual", () => {
            var d = (Space.OnThing) Delegate.CreateDelegate (typeof (Space.OnThing), typeof (Space.Thing).GetMethod ("Virtual"));
            d (thing, 1);
        });
        Try ("open interface", () => {
            var d = (Action<Space.IThing>) Delegate.CreateDelegate (typeof (Action<Space.IThing>), typeof (Space.IThing).GetMethod ("Interface"));
            d (thing);
        });
        Try ("EndInvoke", () => { Action<int, Space.Pair.Inside> d = (n, inside) => Throw (); d.EndInvoke (d.BeginInvoke (1, null, null, null)); });
        Try ("one target", () => { Action d = Throw; d (); });
        Try ("synchronized", () => thing.Locked (null));
        Try ("synchronized static", () => Space.Thing.LockedStatic (null));
        Try ("synchronized generic", () => Space.Locked<string>.Method (""));
        thing.Caught ();
        Try ("synchronized, thrown again", () => thing.Again ());
        var remote = Make ();
        Try ("may be a proxy", () => remote.Plain (1));
        Try ("may be a proxy, virtual", () => remote.Virtual (1));
        Try ("may be a proxy, synchronized", () => remote.Locked ());
        var proxy = (Space.Remote) new Space.Proxy ().GetTransparentProxy ();
        Try ("proxy", () => proxy.Plain (1));
        Try ("proxy, virtual", () => proxy.Virtual (1));
        Try ("native code", () => {
            var memory = Marshal.AllocHGlobal (16);
            qsort (memory, (IntPtr) 2, (IntPtr) 4, Throwing);
        });
    }
}
