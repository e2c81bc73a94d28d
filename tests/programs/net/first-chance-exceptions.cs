// AppDomain.FirstChanceException is raised for each throw and rethrow, on the thread that throws, before any handler or
// filter runs; the exception has its first frame by then.

using System;
using System.Reflection;
using System.Runtime.ExceptionServices;
using System.Threading;
using System.Threading.Tasks;

static class Program {
    static int depth;

    static uint Count () =>
        (uint) typeof (Exception).GetMethod ("GetExceptionCount", BindingFlags.NonPublic | BindingFlags.Static)!.Invoke (null, null)!;

    static void Throw (string message) => throw new InvalidOperationException (message);

    static void Announce (object? sender, FirstChanceExceptionEventArgs e) {
        var trace = (e.Exception.StackTrace ?? "none").Split ('\n');
        Console.WriteLine ($"  {sender ?? "no sender"}: {e.Exception.GetType ().Name}: {e.Exception.Message}, first {trace [0].Trim ()}");
    }

    static void Check (string what, Action action) {
        Console.WriteLine (what);
        var before = Count ();
        try {
            action ();
        } catch (Exception e) {
            Console.WriteLine ("  caught " + e.GetType ().Name);
        }
        Console.WriteLine ("  counted " + (Count () - before));
    }

    static bool Filter (string what) {
        Console.WriteLine ("  filter of " + what);
        try {
            Throw ("in a filter");
        } catch { }
        return true;
    }

    static async Task Async () {
        await Task.Yield ();
        Throw ("async");
    }

    static void Main () {
        AppDomain.CurrentDomain.FirstChanceException += Announce;
        Check ("a throw", () => Throw ("a"));
        Check ("a rethrow", () => { try { Throw ("b"); } catch { throw; } });
        Check ("thrown again", () => { try { Throw ("c"); } catch (Exception e) { throw e; } });
        Check ("dispatched", () => { try { Throw ("d"); } catch (Exception e) { ExceptionDispatchInfo.Throw (e); } });
        Check ("a fault", () => { string? s = null; _ = s!.Length; });
        Check ("division", () => { int zero = depth; depth = 5 / zero; });
        Check ("throw null", () => throw null!);
        Check ("a filter", () => { try { Throw ("e"); } catch when (Filter ("e")) { } });
        Check ("in finally", () => { try { Throw ("f"); } finally { try { Throw ("g"); } catch { } } });
        Check ("the library's", () => int.Parse ("x"));
        Check ("of a call", () => Array.Copy (new int [1], new int [1], 5));
        Check ("by a sort", () => Array.Sort (new [] { 3, 2, 1 }, (x, y) => throw new ApplicationException ("compared")));
        Check ("async", () => Async ().GetAwaiter ().GetResult ());
        Check ("on a thread", () => {
            var thread = new Thread (() => { try { Throw ("h"); } catch { } });
            thread.Start ();
            thread.Join ();
        });
        EventHandler<FirstChanceExceptionEventArgs> thrower = (_, _) => {
            if (depth++ < 2)
                try { throw new ApplicationException ("by a handler"); } catch { }
        };
        AppDomain.CurrentDomain.FirstChanceException += thrower;
        Check ("handlers that throw", () => Throw ("i"));
        AppDomain.CurrentDomain.FirstChanceException -= thrower;
        AppDomain.CurrentDomain.FirstChanceException -= Announce;
        Check ("no handler", () => Throw ("j"));
    }
}
