// timeout: 120
// More threads wait for a lock of the thread pool's kind (LowLevelLock, which .NET 10 does not have) than there may be carriers. The thread that has it sleeps, goes on, and all get it.
// They waited in the C library's mutexes, each with its carrier, and nobody was left to run the owner.

using System;
using System.Reflection;
using System.Threading;

static class Program
{
    const int Count = 1200;
    static int arrived, inside, most, served;

    static void Main()
    {
        Type type = typeof(object).Assembly.GetType("System.Threading.LowLevelLock");
        object target = type == null ? new Lock() : Activator.CreateInstance(type, true);
        type ??= typeof(Lock);
        const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;
        var acquire = type.GetMethod(type == typeof(Lock) ? "Enter" : "Acquire", Any).CreateDelegate<Action>(target);
        var release = type.GetMethod(type == typeof(Lock) ? "Exit" : "Release", Any).CreateDelegate<Action>(target);
        acquire();
        var threads = new Thread[Count];
        for (int i = 0; i < Count; i++)
        {
            threads[i] = new Thread(() =>
            {
                Interlocked.Increment(ref arrived);
                for (int round = 0; round < 5; round++)
                {
                    acquire();
                    most = Math.Max(most, ++inside);
                    served++;
                    if (round == 0 && served % 100 == 0)
                        Thread.Sleep(1);
                    inside--;
                    release();
                }
            }, 128 << 10);
            threads[i].Start();
        }
        while (Volatile.Read(ref arrived) < Count)
            Thread.Sleep(10);
        Thread.Sleep(50);
        Console.WriteLine("served while it was taken: " + served);
        release();
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine($"served: {served}, at a time: {most}");
        // A request to interrupt is kept for the next wait that it may end.
        acquire();
        var interrupted = new Thread(() =>
        {
            acquire();
            release();
            try
            {
                Thread.Sleep(Timeout.Infinite);
            }
            catch (ThreadInterruptedException)
            {
                Console.WriteLine("interrupted behind the lock");
            }
        });
        interrupted.Start();
        interrupted.Interrupt();
        Thread.Sleep(20);
        release();
        interrupted.Join();
    }
}
