// What the host of the profiler's events runs. Each step does one thing, and ends what it has begun.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Some
{
    public class Base { public virtual int Number () { return 1; } }

    public class Derived : Base { public override int Number () { return 2; } }

    public class WithInitialiser
    {
        public static int Value = Compute ();
        static int Compute () { return 7; }
    }

    public class Failure : Exception { }

    public class Final
    {
        public static int Done;
        ~Final () { Done++; }
    }

    public class Held { public int Number; }

    public class Missing : Nowhere.Parent { public static int Value; }

    public struct Pair { public int First; public long Second; public object Third; }

    public class Steps
    {
        [MethodImpl (MethodImplOptions.NoInlining)]
        public static int Classes () { return new Derived ().Number () + WithInitialiser.Value; }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static void Throw () { throw new Failure (); }

        // Both throw: again, and anew.
        public static int Again ()
        {
            try {
                try {
                    Throw ();
                } catch (Failure) {
                    throw;
                }
            } catch (Failure e) {
                try {
                    throw e;
                } catch (Failure) {
                    return 6;
                }
            }
            return 0;
        }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static void Through ()
        {
            try {
                Throw ();
            } finally {
                Final.Done += 0;
            }
        }

        public static int Exceptions ()
        {
            try {
                Through ();
                return 0;
            } catch (ArgumentException) {
                return 1;
            } catch (Failure) {
                return 2;
            }
        }

        static void InThread () { Thread.CurrentThread.Name = "named there"; }

        public static int Threads ()
        {
            Thread thread = new Thread (InThread);
            thread.Start ();
            thread.Join ();
            Thread named = new Thread (() => { });
            named.Name = "named before";
            named.Start ();
            named.Join ();
            return 3;
        }

        public static readonly Held Lock = new Held ();
        static volatile bool isWaiting;

        static void Wait () { isWaiting = true; lock (Lock) Lock.Number++; }

        // The other thread waits for the lock while this one has it; and this one gives up waiting.
        public static int Locks ()
        {
            Thread waiter = new Thread (Wait);
            lock (Lock) {
                waiter.Start ();
                while (!isWaiting)
                    Thread.Sleep (1);
                Thread.Sleep (100);
            }
            waiter.Join ();
            ManualResetEvent taken = new ManualResetEvent (false), enough = new ManualResetEvent (false);
            Thread holder = new Thread (() => { lock (Lock) { taken.Set (); enough.WaitOne (); } });
            holder.Start ();
            taken.WaitOne ();
            int result = Monitor.TryEnter (Lock, 20) ? 0 : 4;
            enough.Set ();
            holder.Join ();
            return result;
        }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static void Drop (int depth) { if (depth > 0) Drop (depth - 1); else new Final (); }

        public static int Finalizers ()
        {
            Drop (20);
            for (int i = 0; i < 100 && Final.Done == 0; i++) {
                GC.Collect ();
                GC.WaitForPendingFinalizers ();
            }
            return Final.Done;
        }

        public static int Allocations ()
        {
            Held held = new Held ();
            Held[] array = new Held [3];
            Pair[,] pairs = new Pair [2, 2];
            object box = new Pair ();
            return array.Length + pairs.Length + held.Number + (box == null ? 1 : 0);
        }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static int OfMissing () { return new Missing ().GetHashCode (); }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static int OfUnknown () { Nowhere.Unknown unknown = new Nowhere.Unknown (); return unknown.Number; }

        public static int Failures ()
        {
            int result = 0;
            try {
                OfMissing ();
            } catch (Exception) {
                result = 8;
            }
            try {
                OfUnknown ();
            } catch (Exception) {
                result++;
            }
            return result;
        }

        public static int Collect () { GC.Collect (); return 9; }
    }

    public class Calls
    {
        int number;

        public Calls (int number) { this.number = number; }

        [MethodImpl (MethodImplOptions.NoInlining)]
        public int Add (int a, long b, string text, Pair pair) { int sum = number + a + (int) b + text.Length + pair.First; return sum; }

        [MethodImpl (MethodImplOptions.NoInlining)]
        public static Pair Make (int first, ref int second) { Pair pair = new Pair (); pair.First = first; pair.Second = second; return pair; }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static double Half (double value, float by) { return value * by; }

        [MethodImpl (MethodImplOptions.NoInlining)]
        static void Leave () { throw new Failure (); }

        public static int Run ()
        {
            int second = 5;
            int sum = new Calls (1).Add (2, 3, "four", Make (6, ref second));
            double half = Half (9, 0.5f);
            try {
                Leave ();
            } catch (Failure) {
                sum += (int) half;
            }
            return sum;
        }
    }

    public class Covered
    {
        public static int Run (int number)
        {
            if (number > 3)
                number = 2;
            else
                number = 4;
            return number;
        }

        public static void Never () { Run (1); }
    }

    public class Contexts
    {
        public static void Make () { new System.Runtime.Remoting.Contexts.Context (); }
    }
}
