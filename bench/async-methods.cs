// Async methods. Prints "name nanoseconds" a line: the time of one call, best of seven rounds.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

static class Async
{
    const int Rounds = 7;
    const int Count = 500000;

    static void Measure(string name, Func<int, Task<long>> body)
    {
        body(1000).Wait();
        double best = double.MaxValue;
        for (int round = 0; round < Rounds; round++)
        {
            Stopwatch watch = Stopwatch.StartNew();
            body(Count).Wait();
            best = Math.Min(best, watch.Elapsed.TotalMilliseconds * 1e6 / Count);
        }
        Console.WriteLine("{0} {1:F1}", name, best);
    }

#pragma warning disable 1998
    static async Task<int> Ready(int value)
    {
        return value & 3;
    }
#pragma warning restore 1998

    static readonly Task<int> done = Task.FromResult(1);

    static async Task<int> Through(int value)
    {
        return value + await done;
    }

    static async Task<int> Nested(int depth)
    {
        return depth == 0 ? await done : 1 + await Nested(depth - 1);
    }

    // Continues at once on the same thread: what is measured is suspending and resuming a method.
    struct Suspending : INotifyCompletion
    {
        public static Action Continuation;
        public Suspending GetAwaiter() { return this; }
        public bool IsCompleted { get { return false; } }
        public int GetResult() { return 1; }
        public void OnCompleted(Action continuation) { Continuation = continuation; }
    }

    static async Task<int> Suspend()
    {
        return await new Suspending();
    }

    static async Task<long> CallReady(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += await Ready(i);
        return sum;
    }

    static async Task<long> CallThrough(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
            sum += await Through(i);
        return sum;
    }

    static async Task<long> CallNested(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i += 10)
            sum += await Nested(9);
        return sum;
    }

    static Task<long> CallSuspended(int count)
    {
        long sum = 0;
        for (int i = 0; i < count; i++)
        {
            Task<int> task = Suspend();
            Suspending.Continuation();
            sum += task.Result;
        }
        return Task.FromResult(sum);
    }

    static async Task<long> Yields(int count)
    {
        for (int i = 0; i < count / 10; i++)
            await Task.Yield();
        return count;
    }

    static void Main()
    {
        Measure("ready", CallReady);
        Measure("through", CallThrough);
        Measure("nested", CallNested);
        Measure("suspended", CallSuspended);
        Measure("yield-tenth", Yields);
    }
}
