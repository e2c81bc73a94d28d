// System.Threading.Lock belongs to one thread, also among threads that one carrier runs in turn: while its owner sleeps, and
// under timers, whose queues have such locks.
using System;
using System.Linq;
using System.Threading;

static class Program
{
    static readonly Lock shared = new();
    static int inside, wrong, entered;

    static void Main()
    {
        Run(20, _ =>
        {
            for (int round = 0; round < 5; round++)
            {
                shared.Enter();
                try
                {
                    if (Interlocked.Increment(ref inside) != 1)
                        Interlocked.Increment(ref wrong);
                    Thread.Sleep(1);
                    entered++;
                    Interlocked.Decrement(ref inside);
                }
                finally { shared.Exit(); }
            }
        });
        Console.WriteLine($"{entered} {wrong}");

        using (shared.EnterScope())
        {
            bool other = true, held = true;
            Run(4, _ =>
            {
                if (!shared.TryEnter()) other = false;
                if (!shared.IsHeldByCurrentThread) held = false;
            });
            Console.WriteLine($"{other} {held} {shared.IsHeldByCurrentThread} {shared.TryEnter()}");
            shared.Exit();
        }

        int failed = 0;
        Run(40, _ =>
        {
            try
            {
                for (int round = 0; round < 50; round++)
                {
                    using var outer = new CancellationTokenSource(10000);
                    using var inner = CancellationTokenSource.CreateLinkedTokenSource(outer.Token);
                    inner.CancelAfter(5000);
                    if ((round & 7) == 0)
                        Thread.Sleep(1);
                }
            }
            catch (SynchronizationLockException) { Interlocked.Increment(ref failed); }
        });
        Console.WriteLine(failed);
    }

    static void Run(int count, Action<int> body)
    {
        var threads = Enumerable.Range(0, count).Select(number => new Thread(() => body(number))).ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
    }
}
