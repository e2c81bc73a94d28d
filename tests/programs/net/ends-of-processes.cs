// How processes end that nobody expects to: what a user reads on standard error, and what the exit code says. Each case is
// a process of its own; of its messages the first line is shown, and whether they name the method that fails.
// timeout: 240
// csc: -pdb
using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

static class P
{
    static readonly nint BadAddress = (nint)0x123456789000;

    [DllImport("libc")] static extern int kill(int process, int signal);
    [DllImport("libc")] static extern nint memset(nint at, int value, nint length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(int depth)
    {
        if (depth == 0) throw new InvalidOperationException("nobody wants this", new ArgumentException("inner"));
        Deep(depth - 1);
        Console.WriteLine("not reached");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DeepRead(nint address) => Marshal.ReadInt32(address);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void DeepWrite(nint address) => *(int*)address = 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DeepCall(ref int count) { count++; return DeepCall(ref count) + count; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DeepFail(Action fail) { fail(); GC.KeepAlive(fail); }

    class Finalized { public Action Action = () => { }; ~Finalized() => Action(); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeFinalized(Action action) => new Finalized { Action = action };

    static void Finalize(Action action)
    {
        MakeFinalized(action);
        for (int i = 0; i < 10; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static class Bad
    {
        public static readonly int Number = Fail();
        static int Fail() { Deep(0); return 1; }
    }

    class WithoutText : Exception { public override string ToString() => throw new Exception("no text"); }

    static async void DeepLater() { await Task.Delay(1); Deep(0); }
    static void AtExit(Action action) => AppDomain.CurrentDomain.ProcessExit += (_, _) => action();
    static void Wait() { Thread.Sleep(60000); Console.WriteLine("waited"); }

    static int Child(string name)
    {
        if (name == "main and a handler")
            AppDomain.CurrentDomain.UnhandledException += (_, e) => Console.WriteLine("told of " + e.ExceptionObject.GetType().Name);
        if (name != "exit code of ProcessExit") AtExit(() => Console.WriteLine("ProcessExit " + Environment.ExitCode));
        switch (name)
        {
            case "main": case "main and a handler": Deep(2); break;
            case "thread of the pool": ThreadPool.QueueUserWorkItem(_ => Deep(2)); Wait(); break;
            case "thread": new Thread(() => Deep(2)).Start(); Wait(); break;
            case "timer": var timer = new Timer(_ => Deep(2), null, 1, -1); Wait(); GC.KeepAlive(timer); break;
            case "async void": DeepLater(); Wait(); break;
            case "task": Task.Run(() => Deep(2)).Wait(); break;
            case "handler that throws":
                AppDomain.CurrentDomain.UnhandledException += (_, _) => throw new Exception("in the handler");
                Deep(2);
                break;
            case "handler that exits":
                AppDomain.CurrentDomain.UnhandledException += (_, _) => Environment.Exit(6);
                Deep(2);
                break;
            case "exception without text": throw new WithoutText();
            case "static constructor": return Bad.Number;
            case "finalizer": Finalize(() => Deep(2)); Wait(); break;
            case "exit on another thread": new Thread(() => Environment.Exit(8)).Start(); Wait(); break;
            case "ProcessExit": AtExit(() => Deep(2)); return 3;
            case "ProcessExit after Exit": AtExit(() => Deep(2)); Environment.Exit(3); break;
            case "exit code of ProcessExit": AtExit(() => Environment.ExitCode = 9); Environment.Exit(3); break;
            case "FailFast": DeepFail(() => Environment.FailFast("the reason")); break;
            case "FailFast without a reason": DeepFail(() => Environment.FailFast(null)); break;
            case "FailFast with an exception":
                try { Deep(2); } catch (Exception e) { Environment.FailFast("the reason", e); }
                break;
            case "FailFast on the pool": ThreadPool.QueueUserWorkItem(_ => DeepFail(() => Environment.FailFast("the reason"))); Wait(); break;
            case "assertion": DeepFail(() => Trace.Fail("the assertion")); break;
            case "read": return DeepRead(BadAddress);
            case "caught read": try { return DeepRead(BadAddress); } catch (Exception e) { Console.WriteLine(e.GetType()); } break;
            case "write": DeepWrite(BadAddress); break;
            case "native write": memset(BadAddress, 1, 8); break;
            case "stack": int count = 0; return DeepCall(ref count);
            case "stack of a thread": new Thread(() => { int count = 0; DeepCall(ref count); }).Start(); Wait(); break;
            case "unobserved task":
                TaskScheduler.UnobservedTaskException += (_, e) => Console.WriteLine("unobserved: " + e.Exception.InnerException!.Message);
                Unobserved();
                Finalize(() => { });
                return 4;
            case "signal": Console.WriteLine("ready"); Wait(); break;
        }
        Console.WriteLine("the end");
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Unobserved()
    {
        var task = Task.Run(() => Deep(2));
        while (!task.IsCompleted) Thread.Sleep(1);
    }

    static void Run(string name, bool isEndedBySignal = false)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.ArgumentList.Add(Environment.GetCommandLineArgs()[0]);
        start.ArgumentList.Add(name);
        using var process = Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync();
        var output = "";
        while (process.StandardOutput.ReadLine() is string line)
        {
            output += " [" + line + "]";
            if (isEndedBySignal) kill(process.Id, 15);
            isEndedBySignal = false;
        }
        process.WaitForExit();
        var text = errors.Result;
        var lines = text.Split('\n');
        var first = lines[0];
        // .NET 10 writes the reason on a line of its own.
        var second = first is "Process terminated." or "Fatal error." || text.Contains(" string because ") ? " / " + lines[1] : "";
        Console.WriteLine($"{name}: {process.ExitCode}{output}");
        // What a crash in native code says is the runtime's own matter.
        if (text != "" && name != "native write")
            Console.WriteLine($"    {first}{second}\n    names the method: {text.Contains("Deep")}, inner: {text.Contains(" ---> ")}");
    }

    static int Main(string[] args)
    {
        if (args.Length == 1) return Child(args[0]);
        string[] names = [
            "main", "main and a handler", "thread of the pool", "thread", "timer", "async void", "task", "handler that throws",
            "handler that exits", "exception without text", "static constructor", "finalizer", "exit on another thread",
            "ProcessExit", "ProcessExit after Exit", "exit code of ProcessExit", "FailFast", "FailFast without a reason",
            "FailFast with an exception", "FailFast on the pool", "assertion", "read", "caught read", "write", "native write",
            "stack", "stack of a thread", "unobserved task"];
        foreach (var name in names) Run(name);
        Run("signal", true);
        return 0;
    }
}
