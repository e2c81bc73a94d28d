// Stack overflow on other threads, with stacks of all sizes, on several at once, in class constructors, in callbacks from native code,
// on the thread pool, in other domains and in dynamic methods.
using System;
using System.Reflection.Emit;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

class Program {
    static int Down(int n) { return Down(n + 1) + 1; }

    class Broken {
        public static int value;
        static Broken() { value = Down(0); }
    }

    static class Later {
        public static int value;
        static Later() { value = Make(); }
        static int Make() { return 42; }
    }

    static int DownToInitialize(int n) { return DownToInitialize(n + 1) + Later.value; }

    static string Try(Action action) {
        try { action(); return "nothing"; }
        catch (Exception e) {
            string text = e.GetType().Name;
            for (e = e.InnerException; e != null; e = e.InnerException) text += " <- " + e.GetType().Name;
            return text;
        }
    }

    delegate int Compare(IntPtr a, IntPtr b);

    [DllImport("libc")]
    static extern void qsort(int[] items, IntPtr count, IntPtr size, Compare compare);

    static int DownThroughNative(int n) {
        qsort(new[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => DownThroughNative(n + 1));
        return 0;
    }

    // Calls `f` with itself.
    static Action<object> DynamicCaller() {
        var method = new DynamicMethod("Call", null, new[] { typeof(object) }, typeof(Program));
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Castclass, typeof(Action<object>));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Callvirt, typeof(Action<object>).GetMethod("Invoke"));
        il.Emit(OpCodes.Nop);
        il.Emit(OpCodes.Ret);
        return (Action<object>) method.CreateDelegate(typeof(Action<object>));
    }

    public class Remote : MarshalByRefObject {
        public int Down(int n) { return Down(n + 1) + 1; }
        public string Catch() { return Try(() => Down(0)); }
        public void Cross(Remote other) { other.Cross(this); depth++; }
        int depth;
    }

    static void OtherDomains() {
        AppDomain domain = AppDomain.CreateDomain("other");
        var remote = (Remote) domain.CreateInstanceAndUnwrap(typeof(Remote).Assembly.FullName, typeof(Remote).FullName);
        Console.WriteLine("other domain: " + remote.Catch() + ", " + Try(() => remote.Down(0)));
        OnSmallStack("between domains", () => { try { remote.Cross(new Remote()); } catch (Exception e) { while (e.InnerException != null) e = e.InnerException; throw e; } });
        AppDomain.Unload(domain);
    }

    static void OnSmallStack(string what, Action action) {
        string result = null;
        var t = new Thread(() => result = Try(action), 256 << 10);
        t.Start();
        t.Join();
        Console.WriteLine(what + ": " + result);
    }

    static void Main() {
        // Deep stacks make collections slow.
        var t = new Thread(Run, 512 << 10);
        t.Start();
        t.Join();
    }

    static void Run() {
        foreach (int size in new[] { 0, 128 << 10, 300 << 10, 1 << 20, 2 << 20 }) {
            string result = null;
            var t = new Thread(() => { for (int i = 0; i < (size == 0 ? 1 : 3); i++) result = Try(() => Down(0)); }, size);
            t.Start();
            t.Join();
            Console.WriteLine((size >> 10) + " KiB: " + result);
        }
        int caught = 0;
        var threads = new Thread[6];
        for (int i = 0; i < threads.Length; i++) {
            threads[i] = new Thread(() => {
                for (int n = 0; n < 10; n++)
                    try { Down(0); } catch (StackOverflowException) { Interlocked.Increment(ref caught); }
            }, 512 << 10);
            threads[i].Start();
        }
        foreach (Thread t in threads) t.Join();
        Console.WriteLine("at once: " + caught);
        Console.WriteLine("task: " + Try(() => Task.Run(() => Down(0)).Wait()));
        Console.WriteLine("class constructor: " + Try(() => Console.WriteLine(Broken.value)));
        Console.WriteLine("again: " + Try(() => Console.WriteLine(Broken.value)));
        Console.WriteLine("first use near the end: " + Try(() => DownToInitialize(0)) + ", " + Later.value);
        Console.WriteLine("callback: " + Try(() => qsort(new[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => Down(0))));
        Console.WriteLine("callback in which it is caught: " + Try(() => qsort(new[] { 2, 1 }, (IntPtr) 2, (IntPtr) 4, (a, b) => { Try(() => Down(0)); return 0; })));
        Console.WriteLine("through native frames: " + Try(() => DownThroughNative(0)));
        int inPool = 0;
        using (var done = new CountdownEvent(4)) {
            for (int i = 0; i < 4; i++)
                ThreadPool.QueueUserWorkItem(_ => { if (Try(() => Down(0)) == "StackOverflowException") Interlocked.Increment(ref inPool); done.Signal(); });
            done.Wait();
        }
        Console.WriteLine("thread pool: " + inPool);
        Action<object> caller = DynamicCaller();
        Console.WriteLine("dynamic method: " + Try(() => caller(caller)));
        OtherDomains();
    }
}
