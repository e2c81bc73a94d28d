// Collectible contexts with thread-static fields, on threads that live and on ones that end, and with methods that native code calls: all end after Unload.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

static unsafe class Test
{
    static readonly string Library = Path.Combine(AppContext.BaseDirectory, "collectible-thread-statics.lib.dll");

    delegate ref int Places();

    sealed class Worker
    {
        readonly SemaphoreSlim given = new(0), done = new(0);
        Func<int, int> work;
        int argument, result;
        bool ends;

        public Worker()
        {
            var thread = new Thread(() =>
            {
                while (true)
                {
                    given.Wait();
                    if (ends)
                        return;
                    Step();
                    done.Release();
                }
            });
            thread.IsBackground = true;
            thread.Start();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        void Step()
        {
            result = work(argument);
            work = null;
        }

        public int Do(Func<int, int> work, int argument)
        {
            (this.work, this.argument) = (work, argument);
            given.Release();
            done.Wait();
            return result;
        }

        public void End()
        {
            ends = true;
            given.Release();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Load(int number, Worker[] workers, ref int sum, List<IntPtr> pointers)
    {
        var context = new AssemblyLoadContext("number " + number, isCollectible: true);
        Type entry = context.LoadFromAssemblyPath(Library).GetType("Plugin.Entry");
        var run = entry.GetMethod("Run").CreateDelegate<Func<int, int>>();
        for (int round = 0; round < 2; round++)
        {
            sum += run(number);
            foreach (Worker worker in workers)
                sum += worker.Do(run, number);
        }
        int fromEnded = 0;
        var thread = new Thread(() => fromEnded = run(number));
        thread.Start();
        thread.Join();
        sum += fromEnded + entry.GetMethod("Sort").CreateDelegate<Func<int, int>>()(number);
        pointers.Add((IntPtr)entry.GetMethod("FunctionPointer").Invoke(null, null));
        pointers.Add((IntPtr)entry.GetMethod("DelegatePointer").Invoke(null, null));
        context.Unload();
        return new WeakReference(context, trackResurrection: true);
    }

    /// A context that is alive as long as a reference to a thread-static field is.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static ref int Place(out WeakReference reference)
    {
        var context = new AssemblyLoadContext("place", isCollectible: true);
        reference = new WeakReference(context, trackResurrection: true);
        Type numbers = context.LoadFromAssemblyPath(Library).GetType("Plugin.Numbers");
        ref int place = ref numbers.GetMethod("Place").CreateDelegate<Places>()();
        context.Unload();
        return ref place;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int UsePlace()
    {
        ref int place = ref Place(out WeakReference reference);
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        place += 41;
        return place;
    }

    static void Collect(Func<bool> isDone)
    {
        for (int i = 0; i < 20 && !isDone(); i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    static void Main()
    {
        Console.WriteLine(UsePlace());
        var workers = Enumerable.Range(0, 3).Select(_ => new Worker()).ToArray();
        var contexts = new List<WeakReference>();
        var pointers = new List<IntPtr>();
        int sum = 0;
        for (int i = 0; i < 60; i++)
        {
            contexts.Add(Load(i, workers, ref sum, pointers));
            if (i % 10 == 9)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
        }
        Collect(() => contexts.All(c => !c.IsAlive));
        // Stale words of stacks may keep some.
        int alive = contexts.Count(c => c.IsAlive);
        Console.WriteLine(alive <= 8 ? "contexts die" : alive + " contexts are alive");
        Console.WriteLine(sum + " " + pointers.All(p => p != IntPtr.Zero));
        foreach (Worker worker in workers)
            worker.End();
    }
}
