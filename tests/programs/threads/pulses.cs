// A pulse takes effect when its thread leaves the monitor or waits itself, however it leaves: at once, after nested
// entries, after entries that the machine makes for it, or with other pulses.
using System;
using System.Collections.Generic;
using System.Threading;

static class Program
{
    static Thread Start(ThreadStart body)
    {
        var thread = new Thread(body);
        thread.Start();
        return thread;
    }

    // So many threads wait, and each says its number when it goes on.
    sealed class Waiters
    {
        public readonly object Gate = new object();
        public readonly List<int> Woken = new List<int>();
        readonly List<Thread> threads = new List<Thread>();
        int waiting;

        public void Add(int number)
        {
            threads.Add(Start(() =>
            {
                lock (Gate)
                {
                    waiting++;
                    Monitor.Wait(Gate);
                    Woken.Add(number);
                }
            }));
            while (true)
            {
                lock (Gate)
                    if (waiting == threads.Count)
                        return;
                Thread.Yield();
            }
        }

        public string End()
        {
            foreach (Thread thread in threads)
                thread.Join();
            return string.Join(" ", Woken);
        }
    }

    static void Nested()
    {
        var waiters = new Waiters();
        waiters.Add(1);
        lock (waiters.Gate)
        {
            lock (waiters.Gate)
                Monitor.Pulse(waiters.Gate);
            // A timed entry is the machine's own.
            for (int i = 0; i < 3; i++)
            {
                if (!Monitor.TryEnter(waiters.Gate, 1000))
                    throw new Exception("not entered");
                Monitor.Exit(waiters.Gate);
            }
            Thread.Sleep(20);
            Console.WriteLine("woken inside: " + waiters.Woken.Count);
        }
        Console.WriteLine("nested: " + waiters.End());
    }

    // Pulses with entries by compiled code around them, often enough for it to be optimised.
    static void Often()
    {
        object gate = new object();
        int turn = 0;
        Func<int, ThreadStart> player = me => () =>
        {
            for (int i = 0; i < 20000; i++)
            {
                lock (gate)
                {
                    while (turn != me)
                        Monitor.Wait(gate);
                    lock (gate)
                        turn = 1 - me;
                    Monitor.Pulse(gate);
                    lock (gate)
                        turn += 0;
                }
            }
        };
        Thread first = Start(player(0)), second = Start(player(1));
        first.Join();
        second.Join();
        Console.WriteLine("often: " + turn);
    }

    // A thread that was pulsed and whose time passes while another one has the monitor was pulsed all the same.
    static bool IsPulsedLate(int limit)
    {
        object gate = new object();
        bool isWaiting = false, isPulsed = false;
        Thread thread = Start(() =>
        {
            lock (gate)
            {
                isWaiting = true;
                isPulsed = Monitor.Wait(gate, limit);
            }
        });
        for (bool goesOn = true; goesOn;)
        {
            lock (gate)
            {
                if (!isWaiting)
                    continue;
                goesOn = false;
                Monitor.Pulse(gate);
                Thread.Sleep(limit + 100);
            }
        }
        thread.Join();
        return isPulsed;
    }

    static void Late()
    {
        // On a busy machine the time may pass before the pulse.
        bool isPulsed = false;
        for (int limit = 250; !isPulsed && limit <= 4000; limit *= 2)
            isPulsed = IsPulsedLate(limit);
        Console.WriteLine("late: " + isPulsed);
    }

    // Waits that end by themselves leave the others their pulses.
    static void Expired()
    {
        object gate = new object();
        int pulsed = 0, expired = 0, begun = 0, given = 0;
        var threads = new List<Thread>();
        for (int i = 0; i < 8; i++)
        {
            int number = i;
            threads.Add(Start(() =>
            {
                lock (gate)
                {
                    begun++;
                    if (Monitor.Wait(gate, number % 2 == 0 ? 5 : Timeout.Infinite))
                        pulsed++;
                    else
                        expired++;
                }
            }));
        }
        for (bool goesOn = true; goesOn; Thread.Sleep(10))
        {
            lock (gate)
            {
                goesOn = begun < 8 || pulsed + expired < 8;
                if (begun == 8 && goesOn)
                {
                    Monitor.Pulse(gate);
                    given++;
                }
            }
        }
        threads.ForEach(thread => thread.Join());
        Console.WriteLine("expired: " + (pulsed + expired) + " " + (pulsed >= 4) + " " + (given >= pulsed));
    }

    static void Interrupted()
    {
        object gate = new object();
        var ends = new string[3];
        int begun = 0;
        var threads = new Thread[3];
        for (int i = 0; i < 3; i++)
        {
            int number = i;
            threads[i] = Start(() =>
            {
                lock (gate)
                {
                    begun++;
                    try { ends[number] = Monitor.Wait(gate) ? "pulsed" : "expired"; }
                    catch (ThreadInterruptedException) { ends[number] = "interrupted " + Monitor.IsEntered(gate); }
                }
            });
        }
        while (Volatile.Read(ref begun) < 3)
            Thread.Yield();
        lock (gate)
        {
        }
        threads[1].Interrupt();
        threads[1].Join();
        lock (gate)
            Monitor.PulseAll(gate);
        foreach (Thread thread in threads)
            thread.Join();
        Console.WriteLine("interrupted: " + string.Join(", ", ends));
    }

    // Pulses reach the threads in the order in which they began to wait, and the rest all at once.
    static void Many()
    {
        var waiters = new Waiters();
        for (int number = 1; number <= 20; number++)
            waiters.Add(number);
        for (int number = 1; number <= 5; number++)
        {
            lock (waiters.Gate)
                Monitor.Pulse(waiters.Gate);
            for (bool goesOn = true; goesOn; Thread.Yield())
                lock (waiters.Gate)
                    goesOn = waiters.Woken.Count < number;
        }
        lock (waiters.Gate)
        {
            Console.WriteLine("in turn: " + string.Join(" ", waiters.Woken));
            Monitor.Pulse(waiters.Gate);
            Monitor.Pulse(waiters.Gate);
            Monitor.PulseAll(waiters.Gate);
            Monitor.PulseAll(waiters.Gate);
        }
        waiters.End();
        waiters.Woken.Sort();
        Console.WriteLine("all: " + string.Join(" ", waiters.Woken));
    }

    static void Main()
    {
        Nested();
        Often();
        Late();
        Expired();
        Interrupted();
        Many();
    }
}
